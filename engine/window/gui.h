// The panel of a window as a list of widgets: sliders and other ways to change variables, text and
// plots.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "compiler/base/shared_ptr.h"
#include "engine/parameters/param_options.h"
#include "engine/window/view.h"

namespace firn {

class Parameters;
struct Parameter;
struct Widget;
struct Widgets;

/// The bound variables of a panel by their names, with their values as texts. A host without a
/// window sets and shows them.
class PanelParameters {
  public:
    /// The registry outlives this object.
    explicit PanelParameters(Parameters& registry) : registry_(&registry) {}

    /// Sets one parameter, as a slider or a preset does. Throws UserError that names the parameter,
    /// the text and the accepted values, or the parameters that exist.
    void set(const std::string& name, const std::string& text) const;
    /// Sets a parameter that may be added later: the value is checked and written then.
    void set_when_added(const std::string& name, const std::string& text) const;
    /// Returns the names in the order in which the parameters were added.
    std::vector<std::string> names() const;
    /// Returns the present value, as set() takes it. Throws UserError if there is no parameter of
    /// that name.
    std::string value(const std::string& name) const;
    /// Writes the values that the parameters had when they were added.
    void reset() const;
    /// Throws UserError that names a value that was set for a parameter which was never added.
    void check_all_known() const;

    /// Returns the registry itself, which engine/parameters/parameters.h describes.
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
    /// If above 0, the mouse changes a float by so much a pixel, however wide the range is. It may
    /// change from frame to frame.
    float step = 0;
};

/// The options of a plot.
struct PlotOptions {
    bool log = false;  // a logarithmic axis: values that are not above 0 leave gaps
    /// The number of values of each line that are kept; beyond it the oldest are removed.
    int length = 10'000;
    std::string unit, group, help;
    /// The place of the first value of a whole line, or of the begin of the first bar, and the
    /// distance to the next.
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

/// The options of a heat map.
struct HeatMapOptions {
    Colormap colormap = Colormap::Viridis;
    /// The values of the first and the last colour. If they are equal, the smallest and the largest
    /// finite value are used (for a diverging map symmetric about 0).
    ValueRange range;
    std::string unit, group, help;
};
/// A small picture in the panel: one square for each value, row by row.
struct HeatMap {
    int rows = 0, columns = 0;
    std::vector<float> values;
    /// The rows and columns of the tensor if each value is the mean of several; 0: `rows` and
    /// `columns`.
    int64_t all_rows = 0, all_columns = 0;
    HeatMapOptions options;
};

/// A panel. Widgets stay once they are made, in the order in which they were made; asking again by
/// the same name finds the same one. A variable that is bound to a widget must live as long as the
/// window is used. Copies are the same panel. Every bound variable is a parameter, which the
/// command line and presets can set too.
class Gui {
  public:
    Gui();

    // Each of these returns true if the variable was set from outside since the last call: by the
    // person, a preset, or the command line. Throws UserError for a name that another widget has,
    // and for a value outside its own limits.

    /// Binds a number, a truth value or a text.
    bool parameter(const std::string& name, float& value, const ParamOptions& options = {});
    bool parameter(const std::string& name, int& value, const ParamOptions& options = {});
    bool parameter(const std::string& name, bool& value, const ParamOptions& options = {});
    bool parameter(const std::string& name, std::string& value, const ParamOptions& options = {});
    /// Binds a choice of one of `names`, by its index.
    bool parameter(const std::string& name, int& index, const std::vector<std::string>& names,
                   const ParamOptions& options = {});
    /// Binds red, green and blue as they are shown, from 0 to 1.
    bool colour(const std::string& name, std::array<float, 3>& value,
                const ParamOptions& options = {});
    /// Binds an angle in radians, which the panel shows in degrees.
    bool angle(const std::string& name, float& value, const ParamOptions& options = {});
    /// Binds any variable; all functions above use it.
    bool bind(const std::string& name, const ParamVariable& variable, const ParamOptions& options);
    /// Returns the same as the functions above for any parameter: true if it was set from outside
    /// since the last call.
    bool changed(const std::string& name);
    /// Sets ParamOptions::step, which may change from frame to frame.
    void set_step(const std::string& name, float step);
    /// Says that a change of the parameter compiles another program, as its help says from now on.
    /// `state`, which is shown under it, says how far that is; empty: it is done.
    void set_structural(const std::string& name, const std::string& state);

    /// Binds a number with a range, as parameter() does.
    bool slider(const std::string& name, float& value, float low, float high,
                const SliderOptions& options = {});
    bool slider(const std::string& name, int& value, int low, int high,
                const SliderOptions& options = {});
    /// Returns true once for every press. Of the options it uses label, group and help.
    bool button(const std::string& name, const ParamOptions& options);
    bool button(const std::string& name, const std::string& help = "");
    /// Shows a line with a name and a text that may change from frame to frame.
    void text(const std::string& name, const std::string& value);
    /// Appends a value to a plot of the last values (PlotOptions::length); its x axis counts the
    /// values. A value that is not finite leaves a gap.
    void plot(const std::string& name, float value, const PlotOptions& options = {});
    /// Appends a value to each line of a plot:
    /// `plot("energy", {{"kinetic", k}, {"potential", p}})`.
    void plot(const std::string& name, const std::vector<PlotValue>& values,
              const PlotOptions& options = {});
    /// Shows whole lines, which replace the earlier ones: `lines("spectrum", {{"", values}})`.
    void lines(const std::string& name, const std::vector<PlotLine>& lines,
               const PlotOptions& options = {});
    /// Shows a bar for each value, such as the counts of a histogram; they replace the earlier
    /// ones.
    void bars(const std::string& name, const std::vector<float>& values,
              const PlotOptions& options = {});
    /// Shows a picture of values, which replaces the earlier one. nan is magenta.
    void heat_map(const std::string& name, const HeatMap& map);

    /// Returns the bound variables.
    PanelParameters parameters() const;
    /// Returns what the panel draws (engine/window/widgets.h).
    Widgets& widgets() { return *widgets_; }
    const Widget* find(const std::string& name) const;

  private:
    SharedPtr<Widgets> widgets_;
};

}  // namespace firn
