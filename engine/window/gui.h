// The panel of a window as a list of widgets: sliders and other ways to change variables, text and
// plots.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "compiler/program/shared_ptr.h"
#include "engine/window/param_options.h"
#include "engine/window/view.h"

namespace firn {

class Parameters;
struct Parameter;
struct Widget;
struct Widgets;

/// The bound variables of a panel by their names, with values as texts: what a host without a
/// window sets and shows.
class PanelParameters {
  public:
    /// Of this registry, which outlives it.
    explicit PanelParameters(Parameters& registry) : registry_(&registry) {}

    /// Sets one, as a slider or a preset does. UserError that names the parameter, the text and
    /// what it takes, or the parameters that there are.
    void set(const std::string& name, const std::string& text) const;
    /// The same for one that may be added later: checked and written when it is.
    void set_when_added(const std::string& name, const std::string& text) const;
    /// In the order in which they were added.
    std::vector<std::string> names() const;
    /// What it is now, as set() takes it. UserError where there is none of that name.
    std::string value(const std::string& name) const;
    /// Writes the values that they had when they were added.
    void reset() const;
    /// UserError that names what was set for a parameter that was never added.
    void check_all_known() const;

    /// The registry itself, of which engine/window/parameters.h says more.
    /// @{
    const Parameter* find(const std::string& name) const;
    operator Parameters&() const { return *registry_; }
    Parameters* operator->() const { return registry_; }
    /// @}

  private:
    Parameters* registry_;
};

struct SliderOptions {
    std::string help;  // shown when the mouse rests on it, and by --help
    bool logarithmic = false;
    /// Above 0: the mouse changes a float by so much a pixel, however wide the range is. It may
    /// change from frame to frame.
    float step = 0;
};

/// How a plot is drawn.
struct PlotOptions {
    bool log = false;  // a logarithmic axis: values that are not above 0 leave gaps
    /// Values of each line that are kept: of more the oldest go.
    int length = 10'000;
    std::string unit, group, help;
    /// Of whole lines and bars: where the first value stands, or the first bar begins, and how far
    /// it is to the next.
    double x_first = 0, x_step = 1;
};
/// A value of one line of a plot.
struct PlotValue {
    std::string name;
    float value = 0;
};
/// A whole line of a plot.
struct PlotLine {
    std::string name;
    std::vector<float> values;
};

/// How a heat map is drawn.
struct HeatMapOptions {
    Colormap colormap = Colormap::Viridis;
    /// Of the first and the last colour; equal: the smallest and largest finite value (for a
    /// diverging map symmetric about 0).
    ValueRange range;
    std::string unit, group, help;
};
/// A small picture of the panel: a square for each value, row by row.
struct HeatMap {
    int rows = 0, columns = 0;
    std::vector<float> values;
    /// Of the tensor, where each value is the mean of several; 0: as many.
    int64_t all_rows = 0, all_columns = 0;
    HeatMapOptions options;
};

/// Widgets stay once they are made, in the order in which they were; asking again by the same name
/// finds the same one. A variable that is bound to a widget must live as long as the window is
/// used. Copies are the same panel. Every bound variable is a parameter, which the command line and
/// presets can set too.
class Gui {
  public:
    Gui();

    // Each is true when the variable was set from outside since the last time this was asked: by
    // the person, a preset, or the command line. Throws UserError for a name that is another
    // widget's, and for a value outside of its own limits.

    /// A number, a truth or a text.
    bool parameter(const std::string& name, float& value, const ParamOptions& options = {});
    bool parameter(const std::string& name, int& value, const ParamOptions& options = {});
    bool parameter(const std::string& name, bool& value, const ParamOptions& options = {});
    bool parameter(const std::string& name, std::string& value, const ParamOptions& options = {});
    /// One of `names`, by its index.
    bool parameter(const std::string& name, int& index, const std::vector<std::string>& names,
                   const ParamOptions& options = {});
    /// Red, green and blue as they are shown, from 0 to 1.
    bool colour(const std::string& name, std::array<float, 3>& value,
                const ParamOptions& options = {});
    /// Radians, which are degrees to people.
    bool angle(const std::string& name, float& value, const ParamOptions& options = {});
    /// What all of these are made of.
    bool bind(const std::string& name, const ParamVariable& variable, const ParamOptions& options);
    /// The same question for any of them.
    bool changed(const std::string& name);
    /// ParamOptions::step, which may change from frame to frame.
    void set_step(const std::string& name, float step);
    /// A change of it compiles another program, as its help says from now on; `state`, which stands
    /// under it, says how far that is. Empty: it is done.
    void set_structural(const std::string& name, const std::string& state);

    /// The same as parameter(), for a range alone.
    bool slider(const std::string& name, float& value, float low, float high,
                const SliderOptions& options = {});
    bool slider(const std::string& name, int& value, int low, int high,
                const SliderOptions& options = {});
    /// True once for every press. Of the options it has label, group and help.
    bool button(const std::string& name, const ParamOptions& options);
    bool button(const std::string& name, const std::string& help = "");
    /// A line with a name and a text that may change from frame to frame.
    void text(const std::string& name, const std::string& value);
    /// Appends a value to a plot of the last ones (PlotOptions::length); its x axis counts the
    /// values that came. What is not finite leaves a gap.
    void plot(const std::string& name, float value, const PlotOptions& options = {});
    /// The same with a line for each: `plot("energy", {{"kinetic", k}, {"potential", p}})`.
    void plot(const std::string& name, const std::vector<PlotValue>& values,
              const PlotOptions& options = {});
    /// Whole lines, which replace those before: `lines("spectrum", {{"", values}})`.
    void lines(const std::string& name, const std::vector<PlotLine>& lines,
               const PlotOptions& options = {});
    /// A bar for each value, such as the counts of a histogram; they replace those before.
    void bars(const std::string& name, const std::vector<float>& values,
              const PlotOptions& options = {});
    /// A picture of values; it replaces the one before. nan is magenta.
    void heat_map(const std::string& name, const HeatMap& map);

    /// The bound variables.
    PanelParameters parameters() const;
    /// What the panel draws (engine/window/widgets.h).
    Widgets& widgets() { return *widgets_; }
    const Widget* find(const std::string& name) const;

  private:
    SharedPtr<Widgets> widgets_;
};

}  // namespace firn
