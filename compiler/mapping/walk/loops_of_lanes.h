// Finds the loops of a kernel that the lanes of a subgroup can share, and how their parts combine.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/mapping.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The combination of the parts of a carried value: two at a time by `step`, over the lanes by
/// `reduce`.
struct LaneCombine {
    KernelOp step = KernelOp::Add;
    ReduceOp reduce = ReduceOp::Sum;
    int position_of = -1;  // see noted_extreme(): of lanes that found the same, one counts
};

/// The way in which a loop (a For node) runs if a whole subgroup does the work of one invocation.
struct SharedLoop {
    bool split = false;  // its iterations are dealt to the lanes; else each takes all
    /// The outermost loop of a reduction: its results are combined over the lanes, one by
    /// one. Empty: a loop inside a reduction, or one that stores.
    std::vector<LaneCombine> combine;
};

/// Returns the loops that lanes share, by For node. These are loops of stores, in which each
/// iteration stores for itself, and reductions, nests of them too, that all lanes run alike outside
/// every other shared loop. Of a nest one loop is split: the innermost that is not known to be
/// short; if `evenly`, rather one whose trip count is a multiple of the lanes, where the innermost
/// would leave some lanes idle at its end. On a CPU driver idle lanes are masked, and neighbours
/// that read from places apart cost no more.
/// Every lane takes loops that are not listed with the same values. The result is also empty for a
/// kernel whose effects stand in other loops or in branches of them, or combine in loops.
std::map<NodeId, SharedLoop> loops_of_lanes(const KernelCode& code, uint32_t lanes,
                                            bool evenly = false);

/// The step `lanes` (steps.h).
std::string why_lanes_do_not_share(const MappingCase& of);

/// Returns the loop through which the body of another one (a For node) only passes its carried
/// values, or none.
NodeId handed_through(const KernelCode& code, NodeId loop);

/// Returns the carried value, an extreme, of which carried value k of a loop is the position: the
/// iteration that last changed it; -1: k is no such position. Nothing else uses them in the body.
int noted_extreme(const KernelCode& code, NodeId loop, size_t k);

/// The operation by which a body only gathers terms (arg = arg + term) into its carried value k,
/// and that term; the value in between has no other use.
struct GatheredTerm {
    KernelOp op = KernelOp::Add;
    NodeId term;
};
std::optional<GatheredTerm> gathered_term(const KernelCode& code, const KernelRegion& body,
                                          size_t k);

}  // namespace firn
