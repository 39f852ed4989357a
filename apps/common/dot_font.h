// Text on pictures, in dots.
#pragma once
#include <string>

#include "apps/common/canvas.h"

namespace firn {

constexpr int kLetterHeight = 10, kLetterWidth = 6;  // of a character with the room around it, dots

/// Characters as their dots: codes i32 [rows, columns] give f32 [rows kLetterHeight, columns
/// kLetterWidth], 1 where there is ink. What is no printable ASCII is empty.
Tensor lettered(const Tensor& codes);
/// The codes of one line of text, i32 [1, its length].
Tensor codes_of(const std::string& line);
/// The canvas with a line of grey text on it.
Tensor captioned(const Tensor& canvas, const std::string& line, const Spot& spot);

}  // namespace firn
