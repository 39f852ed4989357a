// The forms in which shaders bind buffers: texel views, storage buffers and addresses.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

// See Target.
BindingForm glsl_binding_form(const KernelBuffer& buffer, const DeviceProfile& profile,
                              const SymbolFacts& facts);
AssumedSize glsl_limited_size(const KernelBuffer& buffer, BindingForm form,
                              const DeviceProfile& profile);
int64_t glsl_most_bindings(BindingForm form, const DeviceProfile& profile);
BindingForm glsl_instead_of(BindingForm form, const DeviceProfile& profile);

}  // namespace firn
