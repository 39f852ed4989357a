// The panel of a window as a list of widgets: sliders and other ways to change variables, text and
// plots.
#pragma once
#include <string>
#include <vector>

#include "compiler/program/shared_ptr.h"

namespace firn {

class Parameters;
struct Widget;
struct Widgets;

struct SliderOptions {
    std::string help;  // shown when the mouse rests on it, and by --help
    bool logarithmic = false;
    /// Above 0: the mouse changes a float by so much a pixel, however wide the range is. It may
    /// change from frame to frame.
    float step = 0;
};

/// Widgets stay once they are made, in the order in which they were; asking again by the same name
/// finds the same one. A variable that is bound to a widget must live as long as the window is
/// used. Copies are the same panel. Every bound variable is a parameter, which the command line and
/// presets can set too.
class Gui {
  public:
    Gui();

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

    /// The bound variables (engine/window/parameters.h).
    Parameters& parameters();
    const Parameters& parameters() const;
    /// What the panel draws (engine/window/widgets.h).
    Widgets& widgets() { return *widgets_; }
    const Widget* find(const std::string& name) const;

  private:
    SharedPtr<Widgets> widgets_;
};

}  // namespace firn
