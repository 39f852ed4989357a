// Proofs that the positions of a store meet at no element.
#pragma once
#include "compiler/ir/graph.h"

namespace firn {

/// True when no two positions of a Scatter have the same index: for each axis of the positions some
/// index differs along it, whatever the others are. Such an index is made of the axis' own by
///  - sums with what is the same at all positions, differences, xor with it, multiples;
///  - x / d * (k d) + x % d for a k of 1 or 2, which leaves a gap behind each block of d: the
///    pairs of a butterfly.
/// Arithmetic wraps around. A condition around the store only leaves positions out.
bool has_distinct_positions(const Node& scatter);

}  // namespace firn
