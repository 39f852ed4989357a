// Proofs that the positions of a store meet at no element.
#pragma once
#include "compiler/ir/value_bounds.h"

namespace firn {

/// Returns whether no two positions of a Scatter have the same index: for each axis of the
/// positions some index differs along it, for all values of the others. Such an index is computed
/// from the axis' own index by
/// - sums with a value that is the same at all positions, differences, xor with it, multiples;
/// - x / d * (k d) + x % d for a k of 1 or 2, which leaves a gap behind each block of d: the
///    pairs of a butterfly; of a power of two by shifts and masks, too, as in
///    x >> s << (s + 1) | x & ((1 << s) - 1), and d more than that.
/// Arithmetic wraps around. A condition around the store only leaves positions out.
bool has_distinct_positions(const Node& scatter);

/// True when the positions of two Scatters, all together, are those of the target, each once: along
/// one axis they are the pairs x / d * 2 d + x % d and d more, for a d that divides the number of
/// all x; along each other axis the position's own index. `d` may depend on iterations of `loops`.
bool fill_in_pairs(const Node& first, const Node& second, const CountedBy& loops);

}  // namespace firn
