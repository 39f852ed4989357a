// Loops that reach memory of an invocation's own by the number of their iteration.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Marks loops to be written out by a driver that would leave them (Range::written_out), so that
/// what they find in arrays of an invocation's own lies in registers: those of constant trip counts
/// on which alone every index into an array depends. Arrays that one index reaches by anything
/// else, or whose loops are long together, stay in memory, and their loops loops. Takes and gives
/// placed kernels.
void write_out_own(KernelCode& code, const DeviceProfile& profile);

}  // namespace firn
