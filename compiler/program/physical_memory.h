// How much memory the machine has.
#pragma once
#include <cstdint>

namespace firn {

/// Bytes, used or not. To ask the system for more may succeed, and end the process at the first
/// touch.
uint64_t physical_memory();

}  // namespace firn
