// Text on pictures, in dots.
#pragma once
#include <firn/firn.h>

namespace firn {

constexpr int kLetterHeight = 10, kLetterWidth = 6;  // of a character with the room around it, dots

/// Characters as their dots: codes i32 [rows, columns] give f32 [rows kLetterHeight, columns
/// kLetterWidth], 1 where there is ink. Characters that are not printable ASCII are empty.
Tensor lettered(const Tensor& codes);

}  // namespace firn
