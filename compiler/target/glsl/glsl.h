// Stage 6: placed and mapped Kernel code as GLSL.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Returns a complete compute shader. Needs placed code whose ranges are Group, Invocation, Serial
/// or Subgroup. Code of equal structure (kernel/structure.h) gives text of equal meaning: one text
/// serves all.
std::string emit_glsl(const KernelCode& code, const DeviceProfile& profile);

/// Returns the launched group: the kernel's group_size, or one row of as many invocations, in
/// row-major order, where lanes exchange values (drivers differ in how they make subgroups of
/// several rows), and where a CPU driver would leave lanes idle: it makes subgroups of the
/// invocations of one row alone.
std::array<uint32_t, 3> launched_group(const KernelCode& code, const DeviceProfile& profile);

/// Kernel parameters exceed the push-constant limit of the profile: they come from a uniform buffer
/// after the last binding.
bool needs_param_buffer(const KernelCode& code, const DeviceProfile& profile);

/// Returns whether the kernel requires that -0, inf and nan are kept: it computes with floats, and
/// the device can.
bool keeps_special_floats(const KernelCode& code, const DeviceProfile& profile);

}  // namespace firn
