// Gradients of recorded values.
#pragma once
#include <initializer_list>
#include <vector>

#include "compiler/base/callback.h"
#include "compiler/frontend/tensor.h"

namespace firn {

/// The options of a gradient.
struct GradOptions {
    /// A tensor that the value does not depend on has gradient 0; else it is a UserError that says
    /// which one it is.
    bool allow_unused = false;
};

/// The derivative of `y` by every element of `x`, of the shape and type of x: by reverse mode, as a
/// graph that is fused with the other operations. A y of several elements counts as their sum. Only
/// floats have gradients. A gradient is a tensor like any other: it has a gradient too.
///
///     Tensor loss = sum(square(x - target));
///     x -= 0.1f * grad(loss, x);
///
/// At points without a derivative, the gradient of abs, of a length (a root of squares) and of the
/// angle of (0, 0) is 0; of roots it is infinite; two or three equal operands of min and max share
/// it equally, as do n equal elements of a reduction; a clamp passes it on at its bounds; floor,
/// ceil, round, trunc and sign have 0. learning/subgradients.md has a table, with PyTorch's beside
/// it. A side of select() that is not taken contributes exactly 0, even if it is infinite or nan. A
/// loop keeps the states that its gradient needs, see LoopOptions::checkpoint. UserError with the
/// line of the loop if the host knows no bound of their number (a while_ without max_steps, a trip
/// count that is data and not a min() with a number), and for loops in which sizes begin. A kernel
/// by hand is differentiated as an operation on whole tensors: it must store at places that are
/// proved to be each invocation's own, such as its index, or combine by atomics whose old value is
/// not used, and its lanes must not exchange values; else UserError with the line of the statement.
///
/// Equal tensors have derivatives of their own, as in PyTorch: two that begin as `zeros({n})`, x *
/// x written twice, a number `Tensor w = 0.5f` beside a 0.5f in a formula. A copy of a tensor, and
/// an argument that a function returns unchanged (`x.as(f32)` of an f32, a reshape to the shape
/// that x has), is that tensor itself.
///
/// Inside a loop that is being recorded, a tensor that the loop assigns is a value of its own in
/// each iteration, which depends on nothing; a tensor that it never assigns is the one from
/// outside, with all that it was computed from there. UserError with both lines if the value
/// depends on the tensor only through values outside, and the loop assigns one of them. Inside a
/// kernel by hand there are gradients by values of the invocation, such as x(i).
///
/// Reading a value changes no gradient: a tensor that was computed (read, printed, shown, passed to
/// a compiled function, or returned by one) keeps its history while a tensor exists that it changes
/// with, and a call of a compiled function is differentiated as part of its caller. The latest 256
/// values are kept so, with at most 64 MiB of memory that has no other holder; and no memory that
/// was donated to a function (`std::move`, a temporary that the function writes over). A gradient
/// that needs more is a UserError that names the line where the value was computed. Values that an
/// optimizer's step assigns depend on nothing, as in PyTorch.
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

/// The sum of the products of the derivatives of y by each of `xs` with `tangents`, of the shapes
/// of xs: the change of y, of its shape, if xs change by these. It is computed by forward mode,
/// together with y; no history is kept.
///
/// Example: after `Tensor x = tensor({1.0f, 2.0f});` `jvp(x * x, {x}, {tensor({1.0f, 10.0f})})` is
/// `{2, 40}`.
Tensor jvp(const Tensor& y, const std::vector<Tensor>& xs, const std::vector<Tensor>& tangents,
           const GradOptions& options = {}, SourceLine line = here());

/// The product of the second derivatives of y, as grad() takes a y, with `tangents`: the change of
/// the gradient by each of `xs`. Forward over reverse mode: about four times y.
///
/// Example: after `Tensor x = tensor({1.0f, 2.0f});`
/// `hessian_product(x(0) * x(0) * x(1), {x}, {tensor({1.0f, 0.0f})})[0]` is `{4, 2}`.
std::vector<Tensor> hessian_product(const Tensor& y, const std::vector<Tensor>& xs,
                                    const std::vector<Tensor>& tangents,
                                    const GradOptions& options = {}, SourceLine line = here());

/// The result of value_and_grad().
struct ValueAndGradients {
    Tensor value;
    std::vector<Tensor> gradients;  ///< one for each tensor, of its shape
};
/// The result of f, and its gradients by `xs`, which are values of their own for it: an equal value
/// that the function computes again from others, such as x * x, is not one of them.
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
/// `value`, with the gradient of `surrogate`, of the same shape: for values that are rounded or
/// thresholded, as if they were not. Y. Bengio et al., "Estimating or Propagating Gradients Through
/// Stochastic Neurons", 2013.
///
/// Example: after `Tensor x = tensor({0.2f, 0.8f}), y = straight_through(round(x), x);` `y` is
/// `{0, 1}`, `grad(y, x)` is `{1, 1}`.
Tensor straight_through(const Tensor& value, const Tensor& surrogate, SourceLine line = here());

/// The cotangents of `xs`, of their shapes, from y and its cotangent.
using GradientRule = Callback<std::vector<Tensor>(const std::vector<Tensor>& xs, const Tensor& y,
                                                  const Tensor& cotangent)>;
/// Returns the change of y, of its shape, if xs change by `tangents`, of their shapes.
using TangentRule = Callback<Tensor(const std::vector<Tensor>& xs, const Tensor& y,
                                    const std::vector<Tensor>& tangents)>;
/// The rules of both ways.
struct GradientRules {
    GradientRule reverse;
    /// If it is missing, jvp() and hessian_product() derive it from the reverse rule.
    TangentRule forward = nullptr;
};
/// f(xs), whose gradient by xs is the result of `rule`, and not that of f's operations. In the rule
/// y and the cotangent depend on nothing: vjp() inside the rule holds y fixed.
///
/// Example: a gradient that is clamped to 1, after
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
