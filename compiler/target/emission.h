// How far the kernels of a program are made.
#pragma once
#include <cstdint>

namespace firn {

/// What the target makes of each kernel: nothing, where no executor reads it; its text; or its
/// words too.
enum class Emission : uint8_t { Nothing, Text, Binary };

}  // namespace firn
