// What derivatives of stores are made of.
#pragma once
#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

std::vector<Ref> indices_of(const Node& scatter);
/// What stands at each position's place in `x`; `outside` where it has none.
Ref at_positions(const Builder& b, const Node& scatter, const Ref& x, double outside);
/// For every element of the target the sum of what its positions have.
Ref summed_at_places(const Builder& b, const Node& scatter, const Ref& values);

/// Of a store that multiplies: the whole product over what an element or a position gives, or where
/// that is 0, the product without it.
struct OthersProducts {
    Ref of_target;  // of the target's shape: by its own element
    Ref of_values;  // of the positions' shape: by each position's value
};
OthersProducts others_products(const Builder& b, const Ref& scatter);

/// What a store that combines by min or max takes its elements from: whether it is the target's, a
/// position's (bool), and of how many by element (i32).
struct ExtremeShares {
    Ref own, marks, count;
};
ExtremeShares extreme_shares(const Builder& b, const Ref& scatter);

}  // namespace firn
