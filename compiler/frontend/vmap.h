// Functions of one sample, for a batch of samples.
#pragma once
#include <optional>
#include <vector>

#include "compiler/base/callback.h"
#include "compiler/frontend/movement.h"

namespace firn {

/// The axes of the samples in vmap()'s arguments and result.
struct VmapOptions {
    [[no_unique_address]] ByName by_name = {};
    /// The axis that counts the samples, by tensor; none: all samples share the tensor. An empty
    /// list means axis 0 of each; a negative axis counts from the end.
    std::vector<std::optional<int>> axes = {};
    /// The axis of the samples in the result.
    int out_axis = 0;
};

/// Applies f to every sample, and joins the results along an axis: f takes tensors without that
/// axis, and is recorded once. Each sample has its own conditions and trip counts of loops; if
/// samples take different sides of a branch both run. All samples draw the same random numbers.
/// vmap can be nested, and combined with grad() inside (gradients by sample) or outside. UserError
/// if tensors differ in their number of samples, and for sizes that depend on samples, kernels by
/// hand whose lanes exchange values or that use the old value of an atomic, prints and assertions,
/// and assignments to tensors from outside in f.
///
/// Examples: sums of rows, after
/// `auto total = [](const std::vector<Tensor>& s) { return sum(s[0]); };`
/// `vmap(total, {tensor({1, 2, 3, 4}, {2, 2})})` is `{3, 7}`; gradients by sample, after
/// `Tensor w = tensor({1.0f}), x = tensor({1.0f, 2.0f, 3.0f});`
/// `auto slope = [&](const std::vector<Tensor>& s) { return grad(square(w * s[0]), w); };`
/// `vmap(slope, {x})` is `{{2}, {8}, {18}}`.
Tensor vmap(const Callback<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& xs,
            const VmapOptions& options = {}, SourceLine line = here());
/// The same of a function that gives several.
///
/// Example: after `auto ends = [](const std::vector<Tensor>& s) {`
/// `return std::vector<Tensor>{min(s[0]), max(s[0])}; };`
/// `vmap(ends, {tensor({3, 1, 2, 6, 4, 5}, {2, 3})})[1]` is `{3, 6}`.
std::vector<Tensor> vmap(const Callback<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                         const std::vector<Tensor>& xs, const VmapOptions& options = {},
                         SourceLine line = here());

}  // namespace firn
