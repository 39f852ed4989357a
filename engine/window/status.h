// The place beside the panel for messages, work in progress and the value under the mouse; and the
// window of all messages since the start.
#pragma once
#include "engine/window/gui_panel.h"

namespace firn {

/// Returns the height in pixels that the panel must leave free at the lower side: 0 if the messages
/// have a place beside it. `panel`: its place when it was last drawn.
float room_for_status(const PanelState& state, const Rectangle& panel, float scale);
/// Draws the status where it covers nothing else that is open, or above the panel's neighbours if
/// everything is full. Nothing moves for it, and clicks pass through it. It is behind all other
/// windows of the frame.
void draw_status(const PanelState& state, float scale, PanelActions& actions);

/// Draws all messages as text that can be selected and copied.
void draw_log(const PanelState& state, float scale, LogView& view, PanelActions& actions);

}  // namespace firn
