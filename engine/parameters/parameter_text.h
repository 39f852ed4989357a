// Converts values of parameters from and to texts.
#pragma once
#include <string>

#include "engine/parameters/parameters.h"

namespace firn {

/// Writes the value of `text` to the variable. Throws UserError that names the parameter, the text
/// and the accepted values; then the variable is unchanged.
void assign(const Parameter& parameter, const std::string& text);
/// Returns the shortest text that is read back as the same number.
std::string float_text(float value);
/// True if the range has an end.
bool has_range(const Parameter& parameter);
std::string joined(const std::vector<std::string>& names);

}  // namespace firn
