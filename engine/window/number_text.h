// Numbers as people read them.
#pragma once
#include <string>

namespace firn {

/// With so many digits at the most. Zero and nan have no sign.
std::string number_text(double value, int digits = 4);
/// Digits that tell the value from the other one: 4 at least, and 9 at the most.
int digits_apart(double value, double other);

}  // namespace firn
