// The panel's question before a window ends.
#pragma once
#include "engine/window/gui_panel.h"

namespace firn {

/// Draws the question in the middle of the window, over everything else, as long as PanelState has
/// one.
void draw_question(const PanelState& state, float scale, PanelActions& actions);

}  // namespace firn
