// Stores of all invocations of a kernel by hand, which may leave nothing of a tensor.
#pragma once
#include "compiler/ir/graph.h"

namespace firn {

/// Returns the axis of the grid if an index of an access is that axis' own index plus a number;
/// else -1.
int own_axis(const Node& index);

/// The stores that made a version of a tensor, in the kernel that `kernel` describes, reach every
/// element and combine with none: each axis at the index along one of the grid or of a loop inside,
/// or several stores at its multiples and between, as one to each element of a pixel.
bool leaves_nothing(const LoopAttr& kernel, const Node& version);

}  // namespace firn
