// Stage 6: placed and mapped Kernel code as GLSL.
#pragma once
#include <string>

#include "compiler/lower/kernel_code.h"

namespace firn {

/// A complete compute shader. Needs placed code whose ranges are Group, Invocation, Serial or Subgroup.
/// `params_in_buffer`: parameters come from a storage buffer after the last binding instead of push
/// constants. Equal code gives equal text; the user's lines stand in comments.
std::string emit_glsl(const KernelCode& code, bool params_in_buffer);

/// Kernel parameters exceed the push-constant limit of the profile.
bool needs_param_buffer(const KernelCode& code, const DeviceProfile& profile);

}  // namespace firn
