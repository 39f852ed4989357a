// The field by which a person changes a parameter.
#pragma once

#include "engine/window/gui_panel.h"
#include "engine/window/parameters.h"
#include "engine/window/widgets.h"

namespace firn {

/// Draws it and changes the variable; true when it did. What is typed and not taken is said in
/// `actions`. Shift makes drags ten times finer. The name of a file that is refused stays in the
/// field, as `typed`.
bool draw_field(const char* label, const Parameter& parameter, TypedText& typed,
                PanelActions& actions);

}  // namespace firn
