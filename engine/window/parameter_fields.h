// The field by which a person changes a parameter.
#pragma once

#include "engine/window/gui_panel.h"
#include "engine/window/parameters.h"

namespace firn {

/// Draws it and changes the variable; true when it did. What is typed and not taken is said in
/// `actions`. Shift makes drags ten times finer.
bool draw_field(const char* label, const Parameter& parameter, PanelActions& actions);

}  // namespace firn
