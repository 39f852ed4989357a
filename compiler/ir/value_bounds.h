// What a graph tells of an integer value's size.
#pragma once
#include "compiler/ir/graph.h"

namespace firn {

/// Every element of an i32 value lies in [lo, hi]; all of i32 where nothing tells more.
struct ValueBounds {
    int64_t lo = INT32_MIN, hi = INT32_MAX;
    bool known() const { return lo > INT32_MIN || hi < INT32_MAX; }
};
/// Follows constants, indices, arithmetic, choices and movement, a bounded number of steps.
ValueBounds value_bounds(const Node& node, const SymbolFacts& facts);

}  // namespace firn
