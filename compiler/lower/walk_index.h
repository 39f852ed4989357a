// Index arithmetic of the walk: bounds modes, reshape, projection, the grid.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/lower/walk.h"

namespace firn {

/// The indices of a kernel's invocations: the logical index per dimension of its shape, and the
/// flat one.
struct WalkGrid {
    std::vector<NodeId> indices;
    NodeId flat;
};
/// Makes a Grid range per dimension; small constant trailing dimensions are merged. `flat`: one
/// range over all elements, and `indices` holds that index alone. Without `in_memory` the flat
/// position is not used, and there may be more than 32 bits can count.
WalkGrid make_grid(KernelBuilder& b, const Shape& shape, bool flat, bool in_memory = true);
/// Returns whether every value that the outputs need inside the kernel has the kernel's shape or a
/// single element, so that one flat index serves all.
bool is_flat_kernel(const std::vector<Ref>& outputs, const Shape& shape,
                    const LowerContext& context);

/// Row-major position. A single index on a shape of another rank is already flat.
NodeId flat_index(KernelBuilder& b, const std::vector<NodeId>& at, const Shape& shape);
/// Index into `to`, which broadcasts to `from`, that belongs to index `at` into `from`.
std::vector<NodeId> project(KernelBuilder& b, const std::vector<NodeId>& at, const Shape& from,
                            const Shape& to);
/// Index into `in` for an index into the reshaped `out`. `countable`: all of it is known to be
/// countable with 32 bits. Blocks that may not be are counted with 64 bits.
std::vector<NodeId> reshape_index(KernelBuilder& b, const std::vector<NodeId>& at, const Shape& out,
                                  const Shape& in, bool countable = false);

/// A read at `i` on an axis of n elements: an index that is inside, and whether `i` itself was
/// (constant true except for Bounds::Constant).
struct Read {
    NodeId index, inside;
};
Read bounded(KernelBuilder& b, NodeId i, const Size& n, Bounds mode);

/// Makes a Serial range of `extent` iterations (never negative).
RangeId serial_range(KernelBuilder& b, const Size& extent, const std::string& name);
/// Makes the Serial range of a loop from begin to end by step (i32 nodes); a step of 0 gives no
/// iteration, nor does a false `starts` (bool node).
RangeId loop_range(KernelBuilder& b, NodeId begin, NodeId end, NodeId step, NodeId starts);

}  // namespace firn
