// What a graph tells of an integer value's size.
#pragma once
#include <span>

#include "compiler/ir/graph.h"
#include "compiler/program/interval.h"

namespace firn {

/// Where an elementwise i32 operation lies, from where its inputs do, as if integers had no end:
/// it may wrap around where that is beyond i32. kAnyI32 where nothing tells more.
Interval interval_of(Op op, std::span<const Interval> inputs);
/// Every element of an i32 value lies there. Follows constants, indices, arithmetic, choices and
/// movement, a bounded number of steps.
Interval value_bounds(const Node& node, const SymbolFacts& facts);

}  // namespace firn
