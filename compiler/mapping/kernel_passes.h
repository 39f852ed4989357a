// Every pass over kernel code, and the runner that strings them together.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/map.h"
#include "compiler/program/device_profile.h"
#include "compiler/program/pass_info.h"

namespace firn {

/// The target that kernels are made for. `mapping` is null if the user has mapped the ranges
/// (kernels by hand), and before one is chosen.
struct KernelTarget {
    const DeviceProfile& profile;
    const SymbolFacts& facts;
    const Mapping* mapping = nullptr;
    Mapping* chosen = nullptr;  // receives the mapping that the heuristics choose; null: none is
};

/// A row of the table: takes code of one stage, gives code of the same or the next.
struct KernelPass {
    PassInfo info;
    KernelStage takes, gives;
    void (*run)(KernelCode&, const KernelTarget&);
    bool (*applies)(const KernelTarget&) = nullptr;  // null: to every kernel
};
/// Returns the passes in the order in which they run.
std::span<const KernelPass> kernel_passes();

/// One run of one pass.
struct KernelPassRun {
    const char* name;
    double milliseconds = 0;
    size_t nodes_before = 0, nodes_after = 0;
};

struct KernelPassOptions {
    bool verify = true;
    SkippedPasses skipped;
    /// Called with the kernel after every pass.
    std::function<void(const KernelPassRun& run, const KernelCode& code)> seen;
};

/// Takes `code` from one stage to another by the rows between, each of which must keep the promises
/// of its stage (verify()).
KernelCode run_kernel_passes(KernelCode code, KernelStage from, KernelStage to,
                             const KernelTarget& target, const KernelPassOptions& options = {});

/// All rows from a kernel that is Ready to one that is Placed.
KernelCode map_kernel(const KernelCode& ready, const Mapping& mapping, const DeviceProfile& profile,
                      const SymbolFacts& facts, const KernelPassOptions& options = {});

}  // namespace firn
