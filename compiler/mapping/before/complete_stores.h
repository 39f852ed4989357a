// Guarded stores become stores of every element.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Turns a guarded store into an unconditional one that rewrites the old value where the guard is
/// false. A CPU driver takes the lanes of a guard one by one, and unconditional stores of
/// neighbours can become one block. Each invocation must store at an element of its own. Does so
/// only if the guard mostly holds or the element is loaded anyway, if the value needs no loop
/// (which may take long for elements that do not need it), and if nothing else is stored to the
/// buffer. Takes and gives lowered kernels (not placed), before mapping.
KernelCode complete_stores(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
