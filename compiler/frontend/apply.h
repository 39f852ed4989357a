// Elementwise operations on operands, with C++ scalars taking the tensors' type; internal.
#pragma once
#include <vector>

#include "compiler/frontend/tensor.h"
#include "compiler/ir/builder.h"

namespace firn {

/// Records `op` on the operands, at the line of the first that has one.
Tensor apply(Op op, const std::vector<Arg>& args);

/// A builder of the current session at the operand's line, for functions that make several nodes.
Builder builder_at(const Arg& arg);

}  // namespace firn
