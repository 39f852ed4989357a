// A text with the numbers of its lines, as messages about it show it.
#pragma once
#include <string>

namespace firn {

/// The text with the number of each line before it, which begins at 1.
std::string numbered_lines(const std::string& text);

}  // namespace firn
