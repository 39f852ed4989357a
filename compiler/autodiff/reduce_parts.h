// What derivatives of reductions are made of.
#pragma once
#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

/// A value of the reduction's shape at every element that it was made from.
Ref spread(const Builder& b, const Node& reduction, const Ref& value);
/// For each element the product of all others: the whole over the element, or where one is 0, the
/// product without it.
Ref product_of_others(const Builder& b, const Ref& reduction);
/// 1 over their number for the elements that are the extreme, else 0.
Ref share_of_extreme(const Builder& b, const Ref& reduction);

}  // namespace firn
