// Choosing elements by a condition: as many as there are, or with room for all of them.
#pragma once
#include <optional>

#include "compiler/frontend/tensor.h"

namespace firn {

/// How many elements there may be.
struct CompactOptions {
    /// Room for so many; those beyond are left out. Absent: for all. A frame loop that adds as well
    /// as removes says it, so that the room does not grow.
    std::optional<Size> at_most = std::nullopt;
};

/// The slices x(i) along the first axis for which `chosen`, [n], holds, in their order, as numpy's
/// compress. Not a bool: what is not 0.
///
/// The first axis has a size that only the device knows (see device_size); tensors that were
/// compacted by the same condition with the same room have the same. Inside a loop every turn has
/// its own, which ends with the turn. UserError where `chosen` is not one axis, the first of x.
///
/// Examples: `compact(tensor({5, 6, 7}), tensor({true, false, true}))` is `{5, 7}`,
/// `compact(tensor({5, 6, 7}), tensor({true, true, true}), {.at_most = 2})` is `{5, 6}`.
Tensor compact(const Operand& x, const Operand& chosen, const CompactOptions& options = {});
/// The indices of what is not 0 in row-major order, i32 [count, rank], as numpy's argwhere; the
/// count is a size as that of compact. UserError where x has no axes.
///
/// Examples: `nonzero(tensor({0, 3, 0, 4}))` is `{{1}, {3}}`,
/// `nonzero(tensor({0, 1, 1, 0}, {2, 2}))` is `{{0, 1}, {1, 0}}`.
Tensor nonzero(const Operand& x, const CompactOptions& options = {});

/// What was chosen stands in front, in its order; `count` of `values` are valid, the rest is 0.
struct Compacted {
    Tensor values;
    Tensor count;  ///< rank 0, i32
};
/// As compact with the size of the input, for what goes on from turn to turn and for whoever wants
/// fixed sizes.
///
/// Example: after `Compacted c = compact_padded(tensor({5, 6, 7}), tensor({false, true, true}));`
/// `c.values` is `{6, 7, 0}` and `c.count` is `2`.
Compacted compact_padded(const Operand& x, const Operand& chosen);
/// As nonzero with room for the indices of all elements, i32 [elements, rank].
///
/// Example: after `Compacted c = nonzero_padded(tensor({0, 3, 0, 4}));` `c.values` is
/// `{{1}, {3}, {0}, {0}}` and `c.count` is `2`.
Compacted nonzero_padded(const Operand& x);

}  // namespace firn
