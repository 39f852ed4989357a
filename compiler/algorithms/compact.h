// Selects elements by a condition: as many as there are, or with room for all of them.
#pragma once
#include <optional>

#include "compiler/frontend/tensor.h"

namespace firn {

/// The largest number of results.
struct CompactOptions {
    /// Room for so many results; those beyond are left out. Absent: room for all. A frame loop that
    /// adds elements as well as removes some sets it, so that the room does not grow.
    std::optional<Size> at_most = std::nullopt;
};

/// The slices x(i) along the first axis for which `chosen`, [n], holds, in their order, as numpy's
/// compress. If `chosen` is no bool, elements other than 0 hold.
///
/// The first axis has a size that only the device knows (see device_size); tensors that were
/// compacted by the same condition with the same room have the same. Inside a loop every iteration
/// has its own, which ends with the iteration. UserError if `chosen` does not have exactly one
/// axis, the first of x.
///
/// Examples: `compact(tensor({5, 6, 7}), tensor({true, false, true}))` is `{5, 7}`,
/// `compact(tensor({5, 6, 7}), tensor({true, true, true}), {.at_most = 2})` is `{5, 6}`.
Tensor compact(const Operand& x, const Operand& chosen, const CompactOptions& options = {});
/// The indices of the elements other than 0 in row-major order, i32 [count, rank], as numpy's
/// argwhere; the count is a size as that of compact. UserError if x has no axes.
///
/// Examples: `nonzero(tensor({0, 3, 0, 4}))` is `{{1}, {3}}`,
/// `nonzero(tensor({0, 1, 1, 0}, {2, 2}))` is `{{0, 1}, {1, 0}}`.
Tensor nonzero(const Operand& x, const CompactOptions& options = {});

/// The chosen elements stand in front, in their order; `count` of `values` are valid, the others
/// are 0.
struct Compacted {
    Tensor values;
    Tensor count;  ///< rank 0, i32
};
/// The same with the size of the input, for values that loops carry, and for fixed sizes.
///
/// Example: after `Compacted c = compact_padded(tensor({5, 6, 7}), tensor({false, true, true}));`
/// `c.values` is `{6, 7, 0}` and `c.count` is `2`.
Compacted compact_padded(const Operand& x, const Operand& chosen);
/// The indices of nonzero with the size of all elements, i32 [elements, rank].
///
/// Example: after `Compacted c = nonzero_padded(tensor({0, 3, 0, 4}));` `c.values` is
/// `{{1}, {3}, {0}, {0}}` and `c.count` is `2`.
Compacted nonzero_padded(const Operand& x);

}  // namespace firn
