// What the panel shows of the window itself: controls, state, kernel times, presets, keys.
#pragma once
#include "engine/window/gui_panel.h"
#include "engine/window/widgets.h"

namespace firn {

/// Time and device, no wider than that.
void draw_state(const PanelState& state, float most);
/// The window's own buttons, in rows no wider than `most`; gives the width of the widest.
float draw_controls(const PanelState& state, float most, PanelActions& actions);
/// Defaults, presets, and the values as a command line.
void draw_presets(Widgets& widgets, const PanelState& state, float width, PanelActions& actions);
void draw_kernels(const PanelState& state, PanelActions& actions);
/// Of a picture, where the right button was clicked.
void draw_picture_menu(const PanelState& state, PanelActions& actions);
/// The keys, in the middle of the window, until it is closed.
void draw_keys(const PanelState& state, float scale, PanelActions& actions);

}  // namespace firn
