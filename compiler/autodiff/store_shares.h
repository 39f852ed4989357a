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

/// What a store that combines by min or max takes its elements from: 1 where it is the target's or
/// a position's, else 0, and of how many by element.
struct ExtremeShares {
    Ref own, marks, count;
};
ExtremeShares extreme_shares(const Builder& b, const Ref& scatter);

}  // namespace firn
