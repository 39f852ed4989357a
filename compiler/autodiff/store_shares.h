// Building blocks of the derivatives of stores.
#pragma once
#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

std::vector<Ref> indices_of(const Node& scatter);
/// True if no two positions of a store are known to have the same index: it promises so, or its
/// indices say so, as those of a single position do.
bool no_two_meet(const Node& scatter);
/// The element of `x` at each position's place; `outside` if the position has none.
Ref at_positions(const Builder& b, const Node& scatter, const Ref& x, double outside);
/// The sum, for every element of the target, of the values at its positions.
Ref summed_at_places(const Builder& b, const Node& scatter, const Ref& values);

/// Products of a store that multiplies, without one factor: the whole product over the element's or
/// the position's factor, or if that is 0, the product of all others.
struct OthersProducts {
    Ref of_target;  // of the target's shape: by its own element
    Ref of_values;  // of the positions' shape: by each position's value
};
OthersProducts others_products(const Builder& b, const Ref& scatter);

/// The sources of the elements of a store that combines by min or max: whether the target's element
/// is one, whether each position's value is one (bool), and how many there are by element (i32).
struct ExtremeShares {
    Ref own, marks, count;
};
ExtremeShares extreme_shares(const Builder& b, const Ref& scatter);
/// The same, all by position, for a store in which no two positions meet.
ExtremeShares extreme_shares_at_positions(const Builder& b, const Ref& scatter);

}  // namespace firn
