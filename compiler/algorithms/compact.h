// Choosing elements by a condition: as many as there are, or with room for all of them.
#pragma once
#include <optional>

#include "compiler/frontend/tensor.h"

namespace firn {

struct CompactOptions {
    /// Room for so many; those beyond are left out. Absent: for all. A frame loop that adds as well
    /// as removes says it, so that the room does not grow.
    std::optional<Size> at_most = std::nullopt;
};

/// The slices x(i) along the first axis for which `chosen`, [n], holds, in their order, as numpy's
/// compress. Not a bool: what is not 0. The first axis has a size that only the device knows (see
/// device_size); tensors that were compacted by the same condition with the same room have the
/// same. Inside a loop every turn has its own, which ends with the turn.
Tensor compact(const Operand& x, const Operand& chosen, const CompactOptions& options = {});
/// The indices of what is not 0 in row-major order, i32 [count, rank], as numpy's argwhere.
Tensor nonzero(const Operand& x, const CompactOptions& options = {});

/// What was chosen stands in front, in its order; `count` of `values` are valid, the rest is 0.
struct Compacted {
    Tensor values;
    Tensor count;  // rank 0, i32
};
/// The same with the size of the input, for what goes on from turn to turn and for whoever wants
/// fixed sizes.
Compacted compact_padded(const Operand& x, const Operand& chosen);
Compacted nonzero_padded(const Operand& x);

}  // namespace firn
