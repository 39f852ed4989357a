// Loops of stores: the rows that one invocation walks.
#pragma once
#include <cstddef>
#include <vector>

namespace firn {

struct KernelNode;
struct MappingRun;

/// Returns whether the effect is a loop of stores only, each to a buffer of its own, or a loop of
/// one such loop.
bool is_row(const MappingRun& run, int effect);
/// Adds the loops that walk a row for one copy: over `unroll` iterations at once, and over the
/// remainder.
void walk_row(MappingRun& run, int loop, size_t copy, std::vector<int>& effects);
/// Adds the stores of one Store node of the lowered kernel at several indices, four neighbours at a
/// time where they are aligned.
void store_run(MappingRun& run, const KernelNode& store, const std::vector<int>& index,
               const std::vector<int>& value, std::vector<int>& effects);

}  // namespace firn
