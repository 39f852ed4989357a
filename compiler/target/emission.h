// How far the kernels of a program are made.
#pragma once
#include <cstdint>

namespace firn {

/// How far the target makes each kernel: not at all, because no executor reads it; its text; or its
/// words as well.
enum class Emission : uint8_t { Nothing, Text, Binary };

}  // namespace firn
