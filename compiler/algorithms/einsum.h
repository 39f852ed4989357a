// Sums of products by named axes.
#pragma once
#include <string>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

/// Einstein's summation, as numpy's einsum: `einsum("ij,jk->ik", {a, b})`. A letter names an axis;
/// one that is not in the result is summed over; one twice in an operand is its diagonal. "..."
/// stands for any axes in front, which broadcast. Without "->" the result has the letters that
/// occur once, in alphabetical order.
///
/// Operands are multiplied from the left, and summed over an axis as soon as no later operand needs
/// it. Sizes of one letter must be equal, or 1; mistakes are UserErrors that show the text.
///
/// Examples: after `Tensor a = tensor({1, 2, 3, 4}, {2, 2}), v = tensor({1, 10});`
/// `einsum("ij,j->i", a, v)` is `{21, 43}`, `einsum("i,ij,j->", v, a, v)` is `451`,
/// `einsum("ii", {a})` is `5`, `einsum("ba", {a})` is `{{1, 3}, {2, 4}}`.
/// @{
Tensor einsum(const std::string& text, const std::vector<Tensor>& operands,
              SourceLine line = here());
inline Tensor einsum(const std::string& text, const Operand& a, const Operand& b) {
    return einsum(text, {a.tensor(), b.tensor()}, a.line());
}
inline Tensor einsum(const std::string& text, const Operand& a, const Operand& b,
                     const Operand& c) {
    return einsum(text, {a.tensor(), b.tensor(), c.tensor()}, a.line());
}
/// @}

}  // namespace firn
