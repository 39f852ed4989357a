// The GLSL of every elementwise operation, literal and type, and the hand-written functions they
// call.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_op.h"
#include "compiler/program/device_profile.h"
#include "compiler/program/dtype.h"

namespace firn {

/// The type that holds a value in a kernel: f16 and bf16 are a float that is rounded after each
/// operation, integers of 8 and 16 bits an int or a uint that are wrapped.
std::string glsl_type(DType dtype);

/// Text with exactly the value's bits; negative values stand in parentheses.
std::string glsl_literal(const Scalar& value);

/// Returns whether the text is a name or a plain literal, which costs nothing to evaluate in both
/// arms of a choice, and stays the same if it is evaluated again. The element of a vector is an
/// expression.
bool is_plain(const std::string& text);

/// Returns the names for `#extension NAME : require` in a kernel with values or buffers of this
/// type, with every function that operation_glsl() may call on it.
std::vector<std::string> required_extensions(DType dtype);

/// Returns the statement by which a kernel with values of these types requires that -0, inf and nan
/// are kept (DeviceProfile::keeps_special_floats), which also keeps drivers from dropping
/// operations that would not change sums of numbers; of GL_EXT_spirv_intrinsics.
std::string special_floats_glsl(const std::vector<DType>& types);

/// False where no device of Vulkan 1.2 has `op` on operands (Select: on the two values) of this
/// type: exp and its like of f64, arithmetic on bools, bits of floats.
bool supported(KernelOp op, DType operand);

/// The expression of an elementwise operation with the meaning of evaluate(), or of a combined one.
/// Operands are names, literals, or expressions that bind as tightly as a call; each appears once
/// in the result, which does too. Throws UserError where the types are not supported.
std::string operation_glsl(KernelOp op, DType dtype, const std::vector<DType>& input_types,
                           const std::vector<std::string>& operands);

/// Does the same for a device whose driver may compute some operations wrongly: comparisons of
/// widened integers (DeviceProfile::compares_widened), quotients and roots of floats
/// (rounds_exactly).
std::string operation_glsl(const DeviceProfile& profile, KernelOp op, DType dtype,
                           const std::vector<DType>& input_types,
                           const std::vector<std::string>& operands);

/// Casts between these types widen a signed integer to 64 bits.
bool widens(DType to, DType from);

/// The bits of x, of a type of the same width, read as `to`.
std::string bitcast_glsl(DType to, DType from, const std::string& x);

/// The text of the named functions of shaders/{arithmetic,trigonometry,math}.glsl and of all that
/// they need, each once, in the order of the file. Throws InternalError for a name that is not
/// there.
std::string math_library(const std::set<std::string>& functions);

}  // namespace firn
