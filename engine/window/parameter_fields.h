// The field with which a person changes a parameter.
#pragma once

#include "engine/parameters/parameters.h"
#include "engine/window/gui_panel.h"
#include "engine/window/widgets.h"

namespace firn {

/// Draws the field and changes the variable; true if it did. A typed value that is not taken is
/// reported in `actions`. Shift makes drags ten times finer. The refused name of a file stays in
/// the field, as `typed`.
bool draw_field(const char* label, const Parameter& parameter, TypedText& typed,
                PanelActions& actions);

}  // namespace firn
