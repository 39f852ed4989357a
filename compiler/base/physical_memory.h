// The size of the machine's memory.
#pragma once
#include <cstdint>

namespace firn {

/// Returns the bytes of memory, used or not. Asking the system for more may succeed, and end the
/// process at the first touch.
uint64_t physical_memory();

}  // namespace firn
