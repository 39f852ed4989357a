// The panel of a window as a list of widgets: sliders and other ways to change variables, text and
// plots.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "engine/window/parameters.h"
#include "engine/window/view.h"

namespace firn {

struct SliderOptions {
    std::string help;  // shown when the mouse rests on it, and by --help
    bool logarithmic = false;
};

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

/// Widgets stay once they are made, in the order in which they were; asking again by the same name
/// finds the same one. A variable that is bound to a widget must live as long as the window is
/// used. Every bound variable is a parameter, which the command line and presets can set too.
class Gui {
  public:
    /// True when the person has changed the variable since the last time this was asked.
    bool slider(const std::string& name, float& value, float low, float high,
                const SliderOptions& options = {});
    bool slider(const std::string& name, int& value, int low, int high,
                const SliderOptions& options = {});
    bool checkbox(const std::string& name, bool& value, const std::string& help = "");
    /// `index` is the chosen one of `names`.
    bool combo(const std::string& name, int& index, const std::vector<std::string>& names,
               const std::string& help = "");
    bool input(const std::string& name, std::string& value, const std::string& help = "");
    /// True once for every press.
    bool button(const std::string& name, const std::string& help = "");
    /// A line with a name and a text that may change from frame to frame.
    void text(const std::string& name, const std::string& value);
    /// Appends a value to a small plot of the last 240.
    void plot(const std::string& name, float value);
    void heading(const std::string& name);

    Parameters& parameters() { return parameters_; }
    const Parameters& parameters() const { return parameters_; }
    std::deque<Widget>& widgets() { return widgets_; }
    const Widget* find(const std::string& name) const;

  private:
    Widget& widget(Widget::Kind kind, const std::string& name, const std::string& help);
    bool bind(Parameter parameter);

    Parameters parameters_;
    std::deque<Widget> widgets_;
};

}  // namespace firn
