// Gives the inspector the compiler's functions; internal.
#pragma once
#include "engine/inspector/inspector_tools.h"

namespace firn {

InspectorTools inspector_tools();

}  // namespace firn
