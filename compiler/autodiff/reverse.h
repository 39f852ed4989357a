// Reverse mode: the gradient of results by the values that they are computed from.
#pragma once
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

struct ReverseOptions {
    bool chosen = false;   // results may be anything where their seeds are 0 (see Cotangent)
    bool partial = false;  // no target changes with another one: derivatives at the others held
    int64_t most_tape_bytes = int64_t{1} << 27;  // of the tape of one value of a loop; see LoopAttr
    /// The gradient of target k is added to sums[k], which has the target's shape and a float type;
    /// where sums[k] is null or left out, it is added to nothing. The part of an operation that
    /// reads few elements of a target is added to those elements alone.
    std::vector<Ref> sums = {};
};

/// Returns, for every target, the sum over results k and their elements of seeds[k] times the
/// derivative by the target's element, of the target's shape and dtype (or of its sum's, see
/// ReverseOptions), null where no result depends on it and there is no sum. seeds[k] has the shape
/// and dtype of results[k]. One sweep, whatever the number of targets; a target may be computed
/// from another one. Throws UserError, with the user's line, at an operation that has no rule.
std::vector<Ref> reverse_gradients(const Builder& b, const std::vector<Ref>& results,
                                   const std::vector<Ref>& seeds, const std::vector<Ref>& targets,
                                   const ReverseOptions& options = {});

}  // namespace firn
