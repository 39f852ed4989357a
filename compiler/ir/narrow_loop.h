// Loops whose iterations touch the same few elements of a tensor.
#pragma once
#include <vector>

#include "compiler/ir/builder.h"

namespace firn {

/// Returns values equal to the results of `loop`, of a loop that carries only the elements that the
/// iterations touch: of each carried tensor that they read and store to at the same places in every
/// iteration, where no two positions meet and which are at most half of its elements. They are read
/// before the loop, and stored behind it. Empty: the loop carries no such tensor, is inside
/// another region, ends early or is a kernel by hand.
std::vector<Ref> narrowed_loop(const Builder& b, const Node& loop);

}  // namespace firn
