// Elementwise operations on whole host tensors, for the interpreter.
#pragma once
#include <span>

#include "compiler/ir/interpret.h"

namespace firn {

/// Evaluates an elementwise operation; all inputs have `shape`. Common types run in typed loops,
/// the others through evaluate().
HostTensor interpret_elementwise(Op op, DType dtype, const std::vector<int64_t>& shape,
                                 std::span<const HostTensor* const> inputs);

}  // namespace firn
