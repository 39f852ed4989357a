// Which loops of a kernel the lanes of a subgroup can share, and how their parts combine.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/mapping.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// How the parts of a carried value combine: by `step` two at a time, by `reduce` over the lanes.
struct Combine {
    KernelOp step = KernelOp::Add;
    ReduceOp reduce = ReduceOp::Sum;
};

/// What a loop (a For node) does when a whole subgroup does the work of one invocation.
struct SharedLoop {
    bool split = false;  // its iterations are dealt to the lanes; else each takes all
    /// The outermost loop of a reduction: its results are combined over the lanes, one by
    /// one. Empty: a loop inside a reduction, or one that stores.
    std::vector<Combine> combine;
};

/// The loops that lanes share, by For node. Loops of stores: each iteration stores for itself.
/// Reductions, nests of them too, that stand where all lanes do the same, outside every other
/// shared loop. Of a nest one loop is split: the innermost, where it is not known to be short;
/// `evenly`: rather one of whole rounds of the lanes, where the innermost would leave some idle in
/// its last one. On a CPU driver such lanes are masked, and neighbours that read from places apart
/// cost no more.
/// Loops that are not listed are taken by every lane with the same values. Empty, too, for a kernel
/// whose effects stand in other loops or in branches of them, or combine in loops.
std::map<int, SharedLoop> share_loops(const KernelCode& code, uint32_t lanes, bool evenly = false);

/// The step `lanes` (steps.h).
std::string why_lanes_do_not_share(const MappingCase& of);

/// The loop that the body of another one (a For node) does nothing but hand its carried values
/// through; -1: none.
int handed_through(const KernelCode& code, int loop);

/// The operation that a body only gathers terms with (arg = arg + term) for its carried value k,
/// and that term; nobody sees the value in between.
struct GatheredTerm {
    KernelOp op = KernelOp::Add;
    int term = -1;
};
std::optional<GatheredTerm> gathered_term(const KernelCode& code, const KernelRegion& body,
                                          size_t k);

}  // namespace firn
