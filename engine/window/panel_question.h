// The question before a window ends.
#pragma once
#include "engine/window/gui_panel.h"

namespace firn {

/// In the middle of the window, over all else, as long as PanelState has a question.
void draw_question(const PanelState& state, float scale, PanelActions& actions);

}  // namespace firn
