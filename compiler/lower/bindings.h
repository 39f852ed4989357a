// What a mapped kernel binds, once it is known which loads are left.
#pragma once
#include "compiler/lower/kernel_code.h"

namespace firn {

/// Blocks of four of which fewer than three are used become plain loads again. Places the kernel.
void split_lonely_blocks(KernelCode& code);
/// Drops bindings that no live node of placed code uses.
void drop_unused_buffers(KernelCode& code);

}  // namespace firn
