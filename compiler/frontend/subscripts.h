// Interprets the indices of an access: ranges, new axes and masks beside numbers and tensors;
// internal.
#pragma once
#include <vector>

#include "compiler/frontend/tensor.h"
#include "compiler/ir/builder.h"

namespace firn {

/// The part of a tensor that indices choose.
struct Chosen {
    Ref cut;                   // the tensor, cut to the ranges
    Shape shape;               // the shape of a read's result, to which stored values broadcast
    std::vector<Ref> places;   // the elements' places, by axis of the tensor; broadcast to `shape`
    std::vector<Ref> in_cut;   // the same places in `cut`
    std::vector<bool> ranged;  // whether a range gives the place, which is then inside
    Ref mask;                  // broadcasts to `shape`; null: none
};

/// Returns whether each index is that of an element: a number, or a tensor of integers.
bool are_elements(const std::vector<Tensor::Index>& indices);

/// Returns whether both are one mask and nothing else, the same one.
bool same_mask(const std::vector<Tensor::Index>& a, const std::vector<Tensor::Index>& b);
/// Returns the indices with whole axes in place of masks.
std::vector<Tensor::Index> without_masks(const std::vector<Tensor::Index>& indices);

/// Returns the chosen elements, as in numpy: a range keeps its axis, a new axis is added, a number
/// takes its axis away, and tensors of integers take theirs for the axes that they broadcast to:
/// those stand where the first of them stood, or in front where a range, a mask or a new axis
/// stands between them. A mask keeps the axes whose shape it has. UserError: more indices than
/// axes; a range that is not inside; a mask of another shape, of no axis, beside another mask or
/// beside tensors of indices.
Chosen chosen(const Builder& b, const Ref& x, const std::vector<Tensor::Index>& indices);

/// Reads the whole part, and ignores the mask.
Ref read_chosen(const Builder& b, const Chosen& part, Bounds mode, const Scalar& fill);

}  // namespace firn
