// The state of one run of interpret_kernel(), over which the functions that run its nodes work.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/functions/functions.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/kernel/interpret/interpret_lanes.h"
#include "compiler/kernel/interpret/interpret_needs.h"
#include "compiler/kernel/interpret/interpret_races.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {

struct FunctionRun;

/// "Lanes" are the invocations that run in step: those of a group, or of a chunk of the grid where
/// it is not mapped to groups.
struct InterpretRun {
    // The kernel that runs, and its inputs.
    const KernelCode& code;
    const std::vector<std::span<std::byte>>& bound;  // memory, by buffer
    const std::vector<Scalar>& params;
    const SizeEnv& env;
    int subgroup;  // lanes of one
    FunctionValues function_values = FunctionValues::Defined;
    int lanes = 0;  // padded to whole blocks

    // The values of the nodes.
    ByNode<Lanes> values;                                  // no data where a node takes no part
    ByNode<std::vector<Lanes>> results;                    // of a Branch
    std::vector<std::pair<RangeId, NodeId>> range_values;  // with its Range node
    std::vector<std::vector<uint64_t>> storage;            // of all these lanes

    // Memory of the kernel beside its bindings.
    std::vector<std::vector<std::byte>> own_memory;  // of the buffers that are not bound
    std::vector<int32_t> own_index;                  // of the access to one that runs, by lane
    SharedRaces races;
    LoadNeeds needs;

    std::map<const KernelFunction*, std::shared_ptr<FunctionRun>> functions;  // called so far

    // Counters.
    std::vector<int64_t> back_edges;  // by lane, of those that run
    KernelCounts counts;
};

/// Throws InternalError that names the kernel.
[[noreturn]] void fail(const InterpretRun& run, const std::string& what);

}  // namespace firn
