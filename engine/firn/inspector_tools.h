// What the inspector asks the compiler; internal.
#pragma once
#include "engine/inspector/inspector_tools.h"

namespace firn {

InspectorTools inspector_tools();

}  // namespace firn
