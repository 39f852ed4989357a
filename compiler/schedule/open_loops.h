// Loops of kernels whose end only the data knows.
#pragma once
#include "compiler/ir/builder.h"

namespace firn {

/// Loops that are steps of kernels and whose bounds the host does not know, or whose elements leave
/// on their own, become loops that count from 0 and carry one bool that says whether any element
/// goes on: the runtime looks at it now and then, and iterations after the end change
/// nothing. Ensures: the bounds of every loop of kernels are known to the host; the same values.
/// After bound_loops; what it adds to reduce comes before split_reductions.
Graph open_loops(NodeTable& table, const Graph& graph, const SymbolFacts& facts);

/// The trip count of a loop as a rank-0 i32, by operations that the host can do too where it
/// knows the bounds; a step of 0 takes none.
Ref loop_trip_count(const Builder& b, const Ref& begin, const Ref& end, const Ref& step);
/// ceil(distance / pace), 0 where distance is negative: without sums that may pass the largest
/// integer.
Ref count_steps(const Builder& b, const Ref& distance, const Ref& pace);

}  // namespace firn
