// The amount of code that a compile makes of each kernel.
#pragma once
#include <cstdint>

namespace firn {

/// The code that the target makes of each kernel: none, because no executor reads it; its text; or
/// its text and its words.
enum class Emission : uint8_t { Nothing, Text, Binary };

/// The options of Target::emit and Target::describe.
struct EmitOptions {
    bool checks_accesses = false;  // with a check of each access, where the target has them
};

}  // namespace firn
