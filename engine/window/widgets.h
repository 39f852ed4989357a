// The widgets of a Gui as its panel draws them.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "engine/window/parameters.h"
#include "engine/window/view.h"

namespace firn {

/// One line of the panel.
struct Widget {
    enum class Kind : uint8_t { Parameter, Button, Text, Plot, Heading };
    Kind kind = Kind::Text;
    std::string name, help;
    std::string text;            // Text
    std::vector<float> history;  // Plot, the newest last
    bool touched = false;        // changed or pressed since the program last asked
    Rectangle rectangle;         // where it was drawn last, in pixels; empty: not yet
};

/// All of them, in the order in which they were made, and the variables that they change.
struct Widgets {
    Parameters parameters;
    std::deque<Widget> all;

    /// The widget of that name, made where there is none. Throws UserError where it is of another
    /// kind.
    Widget& get(Widget::Kind kind, const std::string& name, const std::string& help = "");
    /// True when the person has changed the variable since the last time this was asked.
    bool bind(Parameter parameter);
};

}  // namespace firn
