// The widgets of a Gui as lines of its panel.
#pragma once
#include <string>
#include <vector>

#include "engine/window/gui_panel.h"
#include "engine/window/widgets.h"

namespace firn {

/// Where the panel's two columns lie, in pixels.
struct Columns {
    float second = 0, second_width = 0;  // of widgets, right of their labels
    float all_width = 0;                 // of what has no label
};
/// As wide as the labels and the row of controls need, and no wider than `most`; the panel is never
/// wider for what it drew before, such as the table of kernels.
Columns columns_of(const Widgets& widgets, float controls_width, float most, float scale);

/// The groups, in order.
std::vector<std::string> headers_of(const Widgets& widgets);

/// Those without a group first to last, and each group, which folds, where its first widget stands.
/// What the person changes is one step of the history when it is let go.
void draw_widgets(Widgets& widgets, const Columns& columns, float scale, PanelActions& actions);

}  // namespace firn
