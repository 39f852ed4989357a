// Elementwise operations on operands, with C++ scalars taking the tensors' type; internal.
#pragma once
#include <vector>

#include "compiler/frontend/tensor.h"
#include "compiler/ir/builder.h"

namespace firn {

/// Records `op` on the operands, at the line of the first that has one.
Tensor apply(Op op, const std::vector<Arg>& args);

/// The type that operands meet in where an operator computes with them: a C++ scalar takes that of
/// the tensors, as far as it holds it.
DType meeting_type(const std::vector<Arg>& args);
/// `value`, which has no elements but those of the operands, in the type that these have: integers
/// of 8 and 16 bits stay so where they hold the C++ scalars among the operands, bools beside bools.
Tensor in_own_type(const Tensor& value, const std::vector<Arg>& args);
/// All operands in the type that they meet in, for functions that are more than one operation.
std::vector<Tensor> meet(const std::vector<Arg>& args);
/// The same for functions of real numbers: integers and bools become f32.
std::vector<Tensor> meet_as_floats(const std::vector<Arg>& args);

/// A builder of the current session at the operand's line, for functions that make several nodes.
Builder builder_at(const Arg& arg);

}  // namespace firn
