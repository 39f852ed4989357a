// Values of parameters as texts.
#pragma once
#include <string>

#include "engine/window/parameters.h"

namespace firn {

/// Writes what `text` stands for to the variable. Throws UserError that names the parameter, the
/// text and what it takes; then the variable is as it was.
void assign(const Parameter& parameter, const std::string& text);
/// The shortest text that is read back to the same number.
std::string float_text(float value);
/// The range has an end.
bool has_range(const Parameter& parameter);
std::string joined(const std::vector<std::string>& names);

}  // namespace firn
