// Long straight bodies in parts that a driver's compiler looks at one by one.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Of placed code, for drivers that run shaders on the CPU: what stands in one block their compiler
/// orders as it likes, and of a thousand operations it spills most. Long straight regions outside
/// of loops become branches one behind the other, cut where few values are handed on. All are
/// taken: their condition is a parameter, so that no driver sees that. Post-condition: the same
/// values.
void cut_bodies(KernelCode& code);

}  // namespace firn
