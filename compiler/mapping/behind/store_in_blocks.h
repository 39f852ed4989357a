// Stores of neighbours, one block at a time.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Makes four stores of single elements that fill an aligned block one store of the block, for
/// stores of any origin: the alternating parts of a value, the channels of a picture, copies of a
/// tile. `code` is mapped, not placed. The stores go to one buffer and follow one another, with no
/// other effect between, to places that differ by constants; buffers that are combined into stay as
/// they are. If effects keep an order, all stores to the buffer are joined or none.
void store_in_blocks(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
