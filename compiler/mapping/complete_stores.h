// Guarded stores become stores of every element.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Where invocations store, under a guard, each at an element of its own, all of them store: what
/// was there, where the guard fails. A CPU driver takes the guard's lanes one by one, and what
/// neighbours store can be a block then. Only where the guard mostly holds or the element is loaded
/// anyway, the value needs no loop, which may take long where nobody asks for it, and nothing
/// else is stored there. Takes and gives lowered kernels, before mapping. Not placed.
KernelCode complete_stores(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
