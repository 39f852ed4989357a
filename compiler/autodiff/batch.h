// Rewrites a graph that was recorded for one sample to compute a batch of samples.
#pragma once
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

/// Returns `results` with a leading axis of `count` samples: computed from samples[k], which has
/// that axis, in place of placeholders[k], which lacks it. Values that depend on no sample are
/// computed once, and repeated along the batch if they are results. Each sample goes through loops
/// as often as its own conditions and bounds say, in lockstep with the others, and of a branch that
/// samples take differently both sides run. Throws UserError, with the user's line, at an operation
/// that has no rule: lanes of a kernel by hand that exchange values, and sizes that depend on
/// samples.
std::vector<Ref> batched(const Builder& b, const Size& count, const std::vector<Ref>& results,
                         const std::vector<Ref>& placeholders, const std::vector<Ref>& samples);

}  // namespace firn
