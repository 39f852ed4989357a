// Makes a parameter of the registry of a variable and its options.
#pragma once
#include <string>

#include "engine/parameters/param_options.h"
#include "engine/parameters/parameters.h"

namespace firn {

/// Returns the parameter that Parameters::add takes. A slider ends where the options say, or else
/// where the range does.
Parameter bound_parameter(const std::string& name, const ParamVariable& variable,
                          const ParamOptions& options);

}  // namespace firn
