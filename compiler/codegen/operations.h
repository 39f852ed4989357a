// The GLSL of every elementwise operation, literal and type, and the hand-written functions they
// call.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_op.h"
#include "compiler/program/dtype.h"

namespace firn {

/// The type that holds a value in a kernel: f16 and bf16 are a float that is rounded after each
/// operation, integers of 8 and 16 bits an int or a uint that are wrapped.
std::string glsl_type(DType dtype);

/// Text with exactly the value's bits; negative values stand in parentheses.
std::string glsl_literal(const Scalar& value);

/// Names and plain literals: what costs nothing to evaluate in both arms of a choice, and stays the
/// same where it is evaluated again. The element of a vector is an expression.
bool is_plain(const std::string& text);

/// Names for `#extension NAME : require` in a kernel whose values or buffers have this type, with
/// every function that operation_glsl() may call on it.
std::vector<std::string> required_extensions(DType dtype);

/// False where no device of Vulkan 1.2 has `op` on operands (Select: on the two values) of this
/// type: exp and its like of f64, arithmetic on bools, bits of floats.
bool supported(KernelOp op, DType operand);

/// The expression of an elementwise operation with the meaning of evaluate(), or of a combined one.
/// Operands are names, literals, or expressions that bind as tightly as a call; each appears once
/// in the result, which does too. Throws UserError where the types are not supported.
std::string operation_glsl(KernelOp op, DType dtype, const std::vector<DType>& input_types,
                           const std::vector<std::string>& operands);

/// The bits of x, of a type of the same width, read as `to`.
std::string bitcast_glsl(DType to, DType from, const std::string& x);

/// Casts between these types widen a signed integer to 64 bits.
bool widens(DType to, DType from);
/// The same value as operation_glsl() gives for such a cast, put together from two words: for
/// drivers that compare it wrongly otherwise (DeviceProfile::compares_widened).
std::string widened_glsl(DType to, const std::string& operand);

/// The text of the named functions of shaders/{arithmetic,trigonometry,math}.glsl and of all that
/// they need, each once, in the order of the file. Throws InternalError for a name that is not
/// there.
std::string math_library(const std::set<std::string>& functions);

}  // namespace firn
