// The operations that combine many values into one: the one table that reductions, combining
// stores and the lanes of a subgroup share.
#pragma once
#include <optional>

#include "compiler/ir/graph.h"

namespace firn {

struct Monoid {
    Op step;  // elementwise, takes one more value
    enum class Identity : uint8_t { Zero, One, Largest, Smallest, AllBits } identity;
    std::optional<ReduceOp> reduce;    // of reductions and subgroups
    std::optional<ScatterOp> scatter;  // of combining stores
    bool logical = false;              // computes with truth values, for any input type
    // The reduction gives the position of what this one gives.
    std::optional<ReduceOp> position_of = std::nullopt;
};

/// Positions, while an extreme is looked for: of none, which comes last; and the bit that marks
/// those of nan, which come first. A position without the bit is `& kNoPosition`.
inline constexpr int64_t kNoPosition = INT32_MAX, kNanPosition = INT32_MIN;

const Monoid& monoid(ReduceOp op);
/// Returns the monoid; InternalError for Last, which combines nothing.
const Monoid& monoid(ScatterOp op);

/// Returns the neutral element in a dtype.
Scalar identity(const Monoid& monoid, DType dtype);

/// Returns the elementwise operation that combines a Scatter's value with the old one; nothing for
/// Last.
Op combining_op(ScatterOp op);
/// The reduction that combines in the same way, where there is one.
std::optional<ReduceOp> reduce_op(ScatterOp op);
/// The elementwise operation that takes one more value into a reduction.
Op reduce_step(ReduceOp op);
/// Identity of a reduction in a dtype: 0, 1, the largest (inf), the smallest, false, true.
Scalar reduce_identity(ReduceOp op, DType dtype);

}  // namespace firn
