// Gradients of what is recorded.
#pragma once
#include <initializer_list>
#include <vector>

#include "compiler/frontend/tensor.h"
#include "compiler/program/callback.h"

namespace firn {

/// What is asked of a gradient.
struct GradOptions {
    /// A tensor that the value does not depend on has gradient 0; else it is a UserError that says
    /// which one it is.
    bool allow_unused = false;
};

/// The derivative of `y` by every element of `x`, of the shape and type of x: by reverse mode, as a
/// graph that is fused with all else. A y of several elements counts as their sum. Floats alone
/// have gradients. A gradient is a tensor like any other: it has a gradient too.
///
///     Tensor loss = sum(square(x - target));
///     x -= 0.1f * grad(loss, x);
///
/// Where a function has no derivative: of abs, of a length (a root of squares) and of the angle of
/// (0, 0) it is 0 at 0; of roots it is infinite there; of two or three equal operands of min and
/// max each gets its share, of n equal elements of a reduction each an n-th; a clamp passes it on
/// at its bounds; floor, ceil, round, trunc and sign have 0. learning/subgradients.md has a table,
/// with PyTorch's beside it. A side of select() that is not taken contributes exactly 0, even where
/// it is infinite or not a number. A loop keeps the states that its gradient asks for, see
/// LoopOptions::checkpoint; where the host knows no bound of their number (a while_ without
/// max_steps, a trip count that is data and not a min() with a number), and for loops in which
/// sizes begin, there is none: UserError with their line. A kernel by hand is differentiated as
/// what it does to whole tensors: it stores at places that are proved to be each invocation's own,
/// such as its index, or combines by atomics of which the old value is not asked, and its lanes do
/// not exchange values; else UserError with the line of the statement.
///
/// Tensors that are equal have derivatives each of its own, as in PyTorch: two that begin as
/// `zeros({n})`, x * x written twice, a number `Tensor w = 0.5f` beside a 0.5f in a formula. A copy
/// of a tensor, and what a function gives back as it was given (`x.as(f32)` of an f32, a reshape to
/// the shape that x has), is that tensor itself.
///
/// Inside a loop that is being recorded, what the loop assigns is a value of its own in each
/// iteration, which depends on nothing; what the loop never assigns is what it is outside, with all
/// that it was computed from there. UserError with both lines where the value depends on the tensor
/// from outside alone, and the loop assigns one of them. Inside a kernel by hand there are
/// gradients by values of the invocation, such as x(i).
///
/// Reading a value on the way changes no gradient: a tensor that was computed (read, printed,
/// shown, given to a compiled function, or by one) keeps what it was computed from while there is a
/// tensor that it changes with, and a call of a compiled function is differentiated as part of what
/// calls it. 256 values are kept so, with 64 MiB at most of memory that nothing else holds, the
/// latest ones; and no memory that was given away to a function (`std::move`, a temporary that the
/// function writes over). Where a gradient needs more it is a UserError that names the line where
/// the value was computed. What an optimizer's step assigns depends on nothing, as in PyTorch.
///
/// Examples: after `Tensor x = tensor({1.0f, 2.0f});` `grad(sum(square(x)), x)` is `{2, 4}`,
/// `grad(grad(x * x * x, x), x)` is `{6, 12}`; at the kink `grad(abs(x - 1.0f), x)` is `{0, 1}`;
/// after `Tensor y = x * x; y.to_vector<float>();` `grad(sum(y + x), x)` is `{3, 5}`.
Tensor grad(const Tensor& y, const Tensor& x, const GradOptions& options = {},
            SourceLine line = here());
/// The same by several tensors at once, in one sweep; one in braces, too, is a list of one.
///
/// Example: after `Tensor w = tensor({1.0f, 2.0f}), b = tensor({3.0f});`
/// `std::vector<Tensor> g = grad(w * w + b, {w, b});` `g[0]` is `{2, 4}`, `g[1]` is `{2}`,
/// `grad(w * w, {w})[0]` is `{2, 4}`.
/// @{
std::vector<Tensor> grad(const Tensor& y, const std::vector<Tensor>& xs,
                         const GradOptions& options = {}, SourceLine line = here());
// One tensor in braces would be a tensor.
inline std::vector<Tensor> grad(const Tensor& y, std::initializer_list<Tensor> xs,
                                const GradOptions& options = {}, SourceLine line = here()) {
    return grad(y, std::vector<Tensor>(xs), options, line);
}
/// @}

/// The product of `cotangent`, of the shape of y, with the derivatives of y by each of `xs`.
///
/// Example: after `Tensor x = tensor({1.0f, 2.0f});` `vjp(x * x, {x}, tensor({1.0f, 10.0f}))[0]` is
/// `{2, 40}`.
std::vector<Tensor> vjp(const Tensor& y, const std::vector<Tensor>& xs, const Tensor& cotangent,
                        const GradOptions& options = {}, SourceLine line = here());

/// The product of the derivatives of y by each of `xs` with `tangents`, of the shapes of xs, summed
/// up: what y changes by, of its shape, where they change so. By forward mode, beside y itself, and
/// nothing is kept.
///
/// Example: after `Tensor x = tensor({1.0f, 2.0f});` `jvp(x * x, {x}, {tensor({1.0f, 10.0f})})` is
/// `{2, 40}`.
Tensor jvp(const Tensor& y, const std::vector<Tensor>& xs, const std::vector<Tensor>& tangents,
           const GradOptions& options = {}, SourceLine line = here());

/// The product of the second derivatives of y, as grad() takes a y, with `tangents`: for each of
/// `xs` what its gradient changes by. Forward over reverse mode: about four times y.
///
/// Example: after `Tensor x = tensor({1.0f, 2.0f});`
/// `hessian_product(x(0) * x(0) * x(1), {x}, {tensor({1.0f, 0.0f})})[0]` is `{4, 2}`.
std::vector<Tensor> hessian_product(const Tensor& y, const std::vector<Tensor>& xs,
                                    const std::vector<Tensor>& tangents,
                                    const GradOptions& options = {}, SourceLine line = here());

/// What value_and_grad() gives.
struct ValueAndGradients {
    Tensor value;
    std::vector<Tensor> gradients;  ///< one for each tensor, of its shape
};
/// What f gives, and its gradients by `xs`, which are values of their own for it: one that the
/// function computes again from others, such as x * x, is not taken for one of them.
///
/// Example: after `auto f = [](const std::vector<Tensor>& x) { return sum(x[0] * x[0]); };`
/// `auto at = value_and_grad(f, {tensor({1.0f, 2.0f})});` `at.value` is `5`, `at.gradients[0]` is
/// `{2, 4}`.
ValueAndGradients value_and_grad(const Callback<Tensor(const std::vector<Tensor>&)>& f,
                                 const std::vector<Tensor>& xs, const GradOptions& options = {},
                                 SourceLine line = here());

/// x, as if it depended on nothing.
///
/// Example: after `Tensor x = tensor({1.0f, 2.0f});` `grad(x * stop_gradient(x), x)` is `{1, 2}`.
Tensor stop_gradient(const Operand& x);
/// `value`, with the gradient of `surrogate`, of the same shape: what is rounded or thresholded on
/// the way, as if it were not. Y. Bengio et al., "Estimating or Propagating Gradients Through
/// Stochastic Neurons", 2013.
///
/// Example: after `Tensor x = tensor({0.2f, 0.8f}), y = straight_through(round(x), x);` `y` is
/// `{0, 1}`, `grad(y, x)` is `{1, 1}`.
Tensor straight_through(const Tensor& value, const Tensor& surrogate, SourceLine line = here());

/// The cotangents of `xs`, of their shapes, from y and its cotangent.
using GradientRule = Callback<std::vector<Tensor>(const std::vector<Tensor>& xs, const Tensor& y,
                                                  const Tensor& cotangent)>;
/// What y changes by, of its shape, where xs change by `tangents`, of their shapes.
using TangentRule = Callback<Tensor(const std::vector<Tensor>& xs, const Tensor& y,
                                    const std::vector<Tensor>& tangents)>;
/// The rules of both ways.
struct GradientRules {
    GradientRule reverse;
    /// Without one, jvp() and hessian_product() take what follows from the reverse rule.
    TangentRule forward = nullptr;
};
/// f(xs), whose gradient by xs is what `rule` gives, not what f's operations would. In the rule y
/// and the cotangent depend on nothing: what it differentiates itself, by vjp(), it does at y held.
///
/// Example: a gradient that is cut to 1, after
/// `auto f = [](const std::vector<Tensor>& x) { return 100.0f * x[0]; };`
/// `auto rule = [](const std::vector<Tensor>&, const Tensor&, const Tensor& cotangent) {`
/// `return std::vector<Tensor>{min(cotangent, 1.0f)}; };`
/// `Tensor x = tensor({1.0f, 2.0f}), y = custom_gradient(f, {x}, rule);` `y` is `{100, 200}`,
/// `grad(5.0f * y, x)` is `{1, 1}`.
Tensor custom_gradient(const Callback<Tensor(const std::vector<Tensor>&)>& f,
                       const std::vector<Tensor>& xs, const GradientRule& rule,
                       SourceLine line = here());
/// The same with a rule for forward mode: `{.reverse = ..., .forward = ...}`.
Tensor custom_gradient(const Callback<Tensor(const std::vector<Tensor>&)>& f,
                       const std::vector<Tensor>& xs, const GradientRules& rules,
                       SourceLine line = here());

}  // namespace firn
