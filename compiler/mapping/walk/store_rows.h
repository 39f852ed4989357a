// Loops of stores: the rows that one invocation walks.
#pragma once
#include <cstddef>
#include <vector>

#include "compiler/kernel/ids.h"

namespace firn {

struct KernelNode;
struct MappingRun;

/// Returns whether the effect is a loop of stores only, each to a buffer of its own, or a loop of
/// one such loop.
bool is_row(const MappingRun& run, NodeId effect);
/// Adds the loops that walk a row for one copy: over `unroll` iterations at once, and over the
/// remainder.
void walk_row(MappingRun& run, NodeId loop, size_t copy, std::vector<NodeId>& effects);
/// Adds the stores of one Store node of the lowered kernel at several indices, four neighbours at a
/// time where they are aligned.
void store_run(MappingRun& run, const KernelNode& store, const std::vector<NodeId>& index,
               const std::vector<NodeId>& value, std::vector<NodeId>& effects);

}  // namespace firn
