// The mathematical functions of kernel code, defined once for every target: exp, log, sin and their
// kin as basic operations.
#pragma once
#include <span>
#include <string>

#include "compiler/kernel/kernel_builder.h"

namespace firn {

/// A function on one or two values of a type.
struct KernelFunction {
    KernelOp op;
    DType dtype;
    double ulps;  // the largest error, in units in the last place
};

/// Returns the name, such as Exp_f32.
std::string name(const KernelFunction& function);
/// Returns all functions with a definition, in the order of functions.def.
std::span<const KernelFunction> kernel_functions();
/// Returns the function; null where the operation has no definition on this type, because it is
/// basic: every target has it. f16 and bf16 are computed in f32.
const KernelFunction* find_kernel_function(KernelOp op, DType dtype);

/// Appends the definition of a function that find_kernel_function() returned, on `args` of its
/// type, and returns the node of its value: sums, products, quotients, square roots, roundings,
/// comparisons, selects, conversions and operations on bits, done as they stand, and branches
/// without effects. With the operations of IEEE 754 the result has the same bits on every target;
/// where a target takes numbers below the smallest normal one as 0, results below it may be 0, and
/// so may what is computed from such arguments.
NodeId append_function(KernelBuilder& b, const KernelFunction& function,
                       std::span<const NodeId> args);

/// Returns a function as placed kernel code without a grid: it stores the value of its scalar
/// arguments, in their order, at element 0 of its only buffer. It is made once.
const KernelCode& function_code(const KernelFunction& function);

}  // namespace firn
