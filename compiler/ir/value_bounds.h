// Bounds of integer values that follow from the graph.
#pragma once
#include <span>
#include <unordered_map>

#include "compiler/ir/graph.h"
#include "compiler/program/interval.h"

namespace firn {

/// Returns the interval of an elementwise i32 operation from those of its inputs, as if integers
/// had no limits: a value beyond i32 may wrap around. kAnyI32 if nothing is known.
Interval interval_of(Op op, std::span<const Interval> inputs);
/// Every element of an i32 value lies there. Follows constants, indices, arithmetic, choices and
/// movement, a bounded number of steps.
Interval value_bounds(const Node& node, const SymbolFacts& facts);

/// The Loop that counts its iterations by a region argument.
using CountedBy = std::unordered_map<const Node*, const Node*>;
CountedBy counting_loops(const std::vector<Ref>& results);
/// Does the same with the bounds of these loops: i lies in begin .. end - 1, so end - i is at least
/// 1.
Interval value_bounds(const Node& node, const SymbolFacts& facts, const CountedBy& loops);

}  // namespace firn
