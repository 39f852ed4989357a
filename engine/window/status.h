// What the window says, in a place of its own beside the panel: messages, work that goes on and the
// value under the mouse; and the window of all messages since the start.
#pragma once
#include "engine/window/gui_panel.h"

namespace firn {

/// Pixels at the lower side that the panel has to leave free: 0 where what is said has a place
/// beside it. `panel`: where it was drawn last.
float room_for_status(const PanelState& state, const Rectangle& panel, float scale);
/// Draws it on nothing else that is open, and above the panel's neighbours where all is full:
/// nothing moves for it, and clicks go by. Behind all other windows of the frame.
void draw_status(const PanelState& state, float scale, PanelActions& actions);

/// All messages, as text that can be selected and copied.
void draw_log(const PanelState& state, float scale, LogView& view, PanelActions& actions);

}  // namespace firn
