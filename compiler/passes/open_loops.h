// Loops of kernels whose trip count depends on data.
#pragma once
#include "compiler/ir/builder.h"

namespace firn {

/// A loop of kernels whose bounds the host does not know, or whose elements end one by one, becomes
/// a loop that counts from 0 and carries one bool, which says whether any element goes on. The
/// runtime reads it now and then; iterations after the end change nothing. Ensures: the host knows
/// the bounds of every loop of kernels; the same values. Runs after bound_loops. The reductions
/// that it adds must come before split_reductions.
Graph open_loops(NodeTable& table, const Graph& graph, const SymbolFacts& facts);

/// Returns the trip count of a loop as a rank-0 i32, by operations that the host can perform too if
/// it knows the bounds. A step of 0 gives no iterations.
Ref loop_trip_count(const Builder& b, const Ref& begin, const Ref& end, const Ref& step);
/// Returns ceil(distance / pace), 0 if distance is negative. No intermediate sum can exceed the
/// largest integer.
Ref count_steps(const Builder& b, const Ref& distance, const Ref& pace);

}  // namespace firn
