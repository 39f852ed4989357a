// All derivatives of several elements by several.
#pragma once
#include "compiler/frontend/grad.h"

namespace firn {

/// The derivative of every element of `y` by every element of `x`: its shape is that of y followed
/// by that of x. Computed column by column by forward mode if y is known to have at least as many
/// elements as x, else row by row by reverse mode, in a recorded loop; y itself is computed once.
/// If every element of y is seen to depend only on a few neighbours in x, as through shifted reads
/// and arithmetic, columns that no element of y has in common are computed together: a stencil
/// takes about as many directions as it has taps.
///
/// Example: after `Tensor x = tensor({1.0f, 2.0f});` `jacobian(x(0) * x, x)` is
/// `{{2, 0}, {2, 1}}`.
Tensor jacobian(const Tensor& y, const Tensor& x, const GradOptions& options = {},
                SourceLine line = here());
/// The same by several tensors, one after the other; one in braces, too, is a list of one.
///
/// Example: after `Tensor a = tensor({1.0f, 2.0f}), b = tensor({3.0f, 4.0f});`
/// `jacobian(a * b, {a, b})[1]` is `{{1, 0}, {0, 2}}`.
/// @{
std::vector<Tensor> jacobian(const Tensor& y, const std::vector<Tensor>& xs,
                             const GradOptions& options = {}, SourceLine line = here());
inline std::vector<Tensor> jacobian(const Tensor& y, std::initializer_list<Tensor> xs,
                                    const GradOptions& options = {}, SourceLine line = here()) {
    return jacobian(y, std::vector<Tensor>(xs), options, line);
}
/// @}

/// The second derivatives of y, as grad() takes a y, by all pairs of elements of x: of its shape
/// twice. Forward over reverse mode.
///
/// Example: after `Tensor x = tensor({1.0f, 2.0f});` `hessian(x(0) * x(0) * x(1), x)` is
/// `{{4, 2}, {2, 0}}`.
Tensor hessian(const Tensor& y, const Tensor& x, const GradOptions& options = {},
               SourceLine line = here());
// clang-format off
std::vector<Tensor> hessian(const Tensor& y, std::initializer_list<Tensor> xs, const GradOptions& options = {}, SourceLine line = here()) = delete;  // by one tensor, hessian(y, x): join several by concat, or take jacobian(grad(y, a), b)
// clang-format on

}  // namespace firn
