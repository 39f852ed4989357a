// Loops that reach memory of an invocation's own by the number of their iteration.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Marks loops to be written out where a driver would not unroll them (Range::written_out), so that
/// the arrays of an invocation that they index lie in registers. These are loops of constant trip
/// count on which alone every index into an array depends. An array that some index reaches by
/// anything else, or whose loops are long together, stays in memory, and its loops stay loops.
/// Takes and gives placed kernels.
void write_out_own(KernelCode& code, const DeviceProfile& profile);

}  // namespace firn
