// The widgets of a Gui as its panel draws them.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/window/change_history.h"
#include "engine/window/plot.h"
#include "engine/window/view.h"

namespace firn {

/// The text that a person types into a field which takes it when it is confirmed.
struct TypedText {
    std::optional<std::string> text;  // none: the field shows its parameter
    std::string refused;              // why it was not taken; empty: it was not yet confirmed
};

/// A line of the panel.
struct Widget {
    enum class Kind : uint8_t { Parameter, Button, Text, Plot, HeatMap };
    Kind kind = Kind::Text;
    std::string name, help;    // help of a parameter: its own
    std::string label, group;  // Button; Plot and HeatMap: the group
    std::string text;          // Text
    TypedText typed;           // Parameter
    Plot plot;
    HeatMap heat_map;
    int presses = 0;      // that the program has not been told of
    Rectangle rectangle;  // where it was drawn last, in pixels; empty: not yet
};

/// All widgets, in the order in which they were made, and the variables that they change.
struct Widgets {
    Parameters parameters;
    ChangeHistory history;
    /// The parameters that the person is changing, and their values before that.
    std::vector<std::string> edited;
    ParameterValues before;
    /// The path of presets.
    std::string preset_path;
    std::deque<Widget> all;

    /// Returns the widget of that name, and makes it if there is none. Throws UserError if it is of
    /// another kind.
    Widget& get(Widget::Kind kind, const std::string& name, const std::string& help = "");
    Plot& get_plot(const std::string& name, const PlotOptions& options);
};

}  // namespace firn
