// Stores of neighbours, one block at a time.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Four stores of single elements that make an aligned block become one store of the block,
/// whatever made them: the parts of a value that alternate, the channels of a picture, copies of a
/// tile. `code` is mapped, not placed. Stores that follow one another directly, to places that
/// differ by constants; not in kernels whose effects keep an order, nor of buffers that something
/// is combined with.
void store_in_blocks(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
