// Stores of neighbours, one block at a time.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Four stores of single elements that make an aligned block become one store of the block,
/// whatever made them: the parts of a value that alternate, the channels of a picture, copies of a
/// tile. `code` is mapped, not placed. Stores to a buffer that follow one another, with no other
/// effect between, to places that differ by constants; not of buffers that something is combined
/// with. Where effects keep an order, all stores to the buffer or none.
void store_in_blocks(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
