// Movement, reads, stores and reductions on whole host tensors, for the interpreter.
#pragma once
#include <span>

#include "compiler/ir/interpret.h"

namespace firn {

HostTensor filled(const Scalar& value, std::vector<int64_t> shape);
/// x repeated to `shape`, right-aligned.
HostTensor expanded(const HostTensor& x, const std::vector<int64_t>& shape);
HostTensor permuted(const HostTensor& x, const std::vector<int>& axes);
HostTensor sliced(const HostTensor& x, const std::vector<int64_t>& begin,
                  const std::vector<int64_t>& extent, const std::vector<int64_t>& step);
HostTensor padded(const HostTensor& x, const std::vector<int64_t>& before,
                  const std::vector<int64_t>& shape, const Scalar& value);
HostTensor index_along(const std::vector<int64_t>& shape, int axis);
/// indices: one i32 tensor per axis of x, all of one shape.
HostTensor gathered(const HostTensor& x, std::span<const HostTensor* const> indices,
                    const std::vector<int64_t>& shape, const GatherAttr& attr);
/// UserError where two positions meet that are promised to be `unique`, or a `complete` store
/// leaves something out.
HostTensor scattered(const HostTensor& target, const HostTensor& values,
                     std::span<const HostTensor* const> indices, const ScatterAttr& attr);
/// Returns the value at each position's index before its own part of `scattered` (row-major order);
/// 0 for positions that are dropped.
HostTensor fetched(const HostTensor& target, const HostTensor& values,
                   std::span<const HostTensor* const> indices, const ScatterAttr& attr);
/// A subgroup operation over the grid that `x` has. `lane`: of a shuffle.
HostTensor exchanged(const HostTensor& x, const HostTensor* lane, const SubgroupAttr& attr);
HostTensor reduced(const HostTensor& x, ReduceOp op, const std::vector<int>& axes);

}  // namespace firn
