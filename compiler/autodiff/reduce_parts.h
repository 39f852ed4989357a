// Building blocks of the derivatives of reductions.
#pragma once
#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

/// A value of the reduction's shape at every element that it was made from.
Ref spread(const Builder& b, const Node& reduction, const Ref& value);
/// Returns, for each element, the product of all others: the whole divided by the element or, if
/// one is 0, the product without it.
Ref product_of_others(const Builder& b, const Ref& reduction);
/// The type in which sums of x are made: f32 if x is a narrower float.
DType wide_float(DType x);
/// x over a count (i32, of its shape), or over 1 where that is 0; of the type of x, which need not
/// hold the count.
Ref over_count(const Builder& b, const Ref& x, const Ref& count);

/// The elements that are the extreme of a reduction (bool, of its input's shape), and how many
/// there are (i32, of its own shape).
struct Extremes {
    Ref is, count;
};
Extremes extremes(const Builder& b, const Ref& reduction);

}  // namespace firn
