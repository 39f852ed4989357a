// Nodes that load, store and combine in memory, for the host interpreter.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/kernel/interpret/interpret_run.h"

namespace firn {

/// Memory for the buffers that are not bound: one copy for the group that runs, or one for each of
/// its lanes.
void make_own_memory(InterpretRun& run);
std::span<std::byte> memory_of(InterpretRun& run, int buffer);

/// Counts the loads or stores of `lanes` lanes by a node.
void count_loads(InterpretRun& run, const KernelNode& n, int lanes);
void count_stores(InterpretRun& run, const KernelNode& n, int lanes);
/// Checks, for a shared array, that an access by the lanes that run is ordered with those of other
/// lanes.
void check_order(InterpretRun& run, const KernelNode& n, const int32_t* index,
                 const LaneMask& mask);

void run_load(InterpretRun& run, NodeId id, const LaneMask& mask);
/// Runs a Load before its place in the order: it is not counted, and races with no access.
void load_early(InterpretRun& run, NodeId id, const LaneMask& mask);
void run_store(InterpretRun& run, NodeId id, const LaneMask& mask);
void run_atomic(InterpretRun& run, NodeId id, const LaneMask& mask);
/// An Array begins, for all lanes.
void run_array(InterpretRun& run, NodeId id);

}  // namespace firn
