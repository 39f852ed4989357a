// The widgets of a Gui as lines of its panel.
#pragma once
#include <string>
#include <vector>

#include "engine/window/gui_panel.h"
#include "engine/window/widgets.h"

namespace firn {

/// The panel's two columns, in pixels.
struct Columns {
    float second = 0, second_width = 0;  // of widgets, right of their labels
    float all_width = 0;                 // of what has no label
};
/// Returns columns as wide as the labels and the row of controls need, and no wider than `most`.
/// Parts of the panel that were drawn before, such as the table of kernels, do not make it wider.
Columns columns_of(const Widgets& widgets, float controls_width, float most, float scale);

/// Returns the groups, in order.
std::vector<std::string> headers_of(const Widgets& widgets);

/// Draws widgets without a group first to last, and each group, which folds, at the place of its
/// first widget. A change by the person becomes one step of the history when the person releases
/// it.
void draw_widgets(Widgets& widgets, const Columns& columns, float scale, PanelActions& actions);

}  // namespace firn
