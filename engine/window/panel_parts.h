// The panel's own parts for the window: controls, state, kernel times, presets, keys.
#pragma once
#include "engine/window/gui_panel.h"
#include "engine/window/widgets.h"

namespace firn {

/// Draws time and device, no wider than `most`.
void draw_state(const PanelState& state, float most);
/// Draws the window's own buttons, in rows no wider than `most`; returns the width of the widest
/// row.
float draw_controls(const PanelState& state, float most, PanelActions& actions);
/// Draws defaults, presets, and the values as a command line.
void draw_presets(Widgets& widgets, const PanelState& state, float width, PanelActions& actions);
void draw_kernels(const PanelState& state, PanelActions& actions);
/// Draws the menu of a picture on which the right button was clicked.
void draw_picture_menu(const PanelState& state, PanelActions& actions);
/// Draws the keys in the middle of the window until they are closed.
void draw_keys(const PanelState& state, float scale, PanelActions& actions);

}  // namespace firn
