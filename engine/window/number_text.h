// Writes numbers for people to read.
#pragma once
#include <string>

namespace firn {

/// Returns the number with so many digits at most. Zero and nan have no sign.
std::string number_text(double value, int digits = 4);
/// Returns the number of digits that distinguish the value from the other one: 4 at least, and 9 at
/// most.
int digits_apart(double value, double other);

}  // namespace firn
