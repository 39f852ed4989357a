// Placed and mapped kernel code as LLVM IR for processors.
#pragma once
#include <string>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"
#include "compiler/target/emission.h"

namespace firn {

/// Returns a module of LLVM IR that defines `firn_kernel` (program/native_abi.h), which runs a
/// number of the kernel's groups. The lanes of a subgroup are the elements of a vector; what is
/// equal in all of them is computed once. Invocations of a group that wait for one another are all
/// lanes of one vector. Requires: placed code, mapped for `profile`.
/// With `checks_accesses`, code of kCheckedFormat.
std::string emit_native(const KernelCode& code, const DeviceProfile& profile,
                        const EmitOptions& options = {});

}  // namespace firn
