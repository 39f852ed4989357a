// What a graph tells of an integer value's size.
#pragma once
#include <span>
#include <unordered_map>

#include "compiler/ir/graph.h"
#include "compiler/program/interval.h"

namespace firn {

/// Where an elementwise i32 operation lies, from where its inputs do, as if integers had no end:
/// it may wrap around where that is beyond i32. kAnyI32 where nothing tells more.
Interval interval_of(Op op, std::span<const Interval> inputs);
/// Every element of an i32 value lies there. Follows constants, indices, arithmetic, choices and
/// movement, a bounded number of steps.
Interval value_bounds(const Node& node, const SymbolFacts& facts);

/// The Loop that counts its iterations by a region argument.
using CountedBy = std::unordered_map<const Node*, const Node*>;
CountedBy counting_loops(const std::vector<Ref>& results);
/// The same, with what the bounds of these loops tell: i lies in begin .. end - 1, and with it
/// end - i from 1 on.
Interval value_bounds(const Node& node, const SymbolFacts& facts, const CountedBy& loops);

}  // namespace firn
