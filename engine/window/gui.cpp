// The widgets of a panel.
#include "engine/window/gui.h"

#include <memory>
#include <utility>

#include "compiler/base/error.h"
#include "engine/parameters/bound_parameter.h"
#include "engine/window/widgets.h"

namespace firn {

Widget& Widgets::get(Widget::Kind kind, const std::string& name, const std::string& help) {
    for (Widget& known : all) {
        if (known.name != name) continue;
        if (known.kind != kind) {
            throw UserError("gui: two different widgets are named '" + name +
                            "'; give one another name");
        }
        return known;
    }
    Widget& made = all.emplace_back();
    made.kind = kind;
    made.name = name;
    made.help = help;
    return made;
}

Plot& Widgets::get_plot(const std::string& name, const PlotOptions& options) {
    Widget& widget = get(Widget::Kind::Plot, name, options.help);
    widget.group = options.group;
    widget.plot.options = options;
    return widget.plot;
}

Gui::Gui() : widgets_(std::make_shared<Widgets>()) {}

PanelParameters Gui::parameters() const { return PanelParameters(widgets_->parameters); }

void PanelParameters::set(const std::string& name, const std::string& text) const {
    registry_->set(name, text);
}
void PanelParameters::set_when_added(const std::string& name, const std::string& text) const {
    registry_->set_when_added(name, text);
}
std::vector<std::string> PanelParameters::names() const {
    std::vector<std::string> out;
    for (const Parameter& each : registry_->all()) out.push_back(each.name);
    return out;
}
std::string PanelParameters::value(const std::string& name) const {
    if (const Parameter* known = registry_->find(name)) return text_of(*known);
    std::string known;
    for (const std::string& each : names()) known += " " + each;
    throw UserError("panel: there is no parameter '" + name + "'; there are" +
                    (known.empty() ? " none" : known));
}
void PanelParameters::reset() const { registry_->reset(); }
void PanelParameters::check_all_known() const { registry_->check_all_known(); }
const Parameter* PanelParameters::find(const std::string& name) const {
    return registry_->find(name);
}

const Widget* Gui::find(const std::string& name) const {
    for (const Widget& widget : widgets_->all) {
        if (widget.name == name) return &widget;
    }
    return nullptr;
}

using Kind = ParamVariable::Kind;

bool Gui::bind(const std::string& name, const ParamVariable& variable,
               const ParamOptions& options) {
    widgets_->get(Widget::Kind::Parameter, name);  // first: the name may be another widget's
    try {
        widgets_->parameters.add(bound_parameter(name, variable, options));
    } catch (const UserError&) {
        if (!widgets_->parameters.find(name)) widgets_->all.pop_back();
        throw;
    }
    return changed(name);
}

bool Gui::changed(const std::string& name) { return widgets_->parameters.take_touched(name); }

void Gui::set_step(const std::string& name, float step) {
    widgets_->parameters.set_step(name, static_cast<double>(step));
}

void Gui::set_structural(const std::string& name, const std::string& state) {
    widgets_->parameters.set_structural(name, state);
}

bool Gui::parameter(const std::string& name, float& value, const ParamOptions& options) {
    return bind(name, {Kind::Float, &value}, options);
}
bool Gui::parameter(const std::string& name, int& value, const ParamOptions& options) {
    return bind(name, {Kind::Int, &value}, options);
}
bool Gui::parameter(const std::string& name, bool& value, const ParamOptions& options) {
    return bind(name, {Kind::Bool, &value}, options);
}
bool Gui::parameter(const std::string& name, std::string& value, const ParamOptions& options) {
    return bind(name, {Kind::Text, &value}, options);
}
bool Gui::parameter(const std::string& name, int& index, const std::vector<std::string>& names,
                    const ParamOptions& options) {
    return bind(name, {Kind::Choice, &index, 1, names}, options);
}
bool Gui::colour(const std::string& name, std::array<float, 3>& value,
                 const ParamOptions& options) {
    return bind(name, {Kind::Colour, value.data(), 3}, options);
}
bool Gui::angle(const std::string& name, float& value, const ParamOptions& options) {
    return bind(name, {Kind::Angle, &value}, options);
}

bool Gui::slider(const std::string& name, float& value, float low, float high,
                 const SliderOptions& options) {
    return parameter(name, value,
                     {.min = low,
                      .max = high,
                      .log = options.logarithmic,
                      .step = options.step,
                      .help = options.help});
}

bool Gui::slider(const std::string& name, int& value, int low, int high,
                 const SliderOptions& options) {
    return parameter(name, value,
                     {.min = low, .max = high, .log = options.logarithmic, .help = options.help});
}

bool Gui::button(const std::string& name, const ParamOptions& options) {
    Widget& widget = widgets_->get(Widget::Kind::Button, name, options.help);
    widget.label = options.label;
    widget.group = options.group;
    if (widget.presses == 0) return false;
    --widget.presses;
    return true;
}

bool Gui::button(const std::string& name, const std::string& help) {
    return button(name, ParamOptions{.help = help});
}

void Gui::text(const std::string& name, const std::string& value) {
    widgets_->get(Widget::Kind::Text, name).text = value;
}

void Gui::plot(const std::string& name, float value, const PlotOptions& options) {
    plot(name, std::vector<PlotValue>{{"", value}}, options);
}

void Gui::plot(const std::string& name, const std::vector<PlotValue>& values,
               const PlotOptions& options) {
    Plot& plot = widgets_->get_plot(name, options);
    if (plot.kind != PlotKind::History) plot.series.clear();
    plot.kind = PlotKind::History;
    for (const PlotValue& each : values) append(plot, each.name, each.value);
}

void Gui::lines(const std::string& name, const std::vector<PlotLine>& lines,
                const PlotOptions& options) {
    Plot& plot = widgets_->get_plot(name, options);
    plot.kind = PlotKind::Lines;
    plot.series.clear();
    for (const PlotLine& line : lines) plot.series.push_back({line.name, line.values, {}});
}

void Gui::bars(const std::string& name, const std::vector<float>& values,
               const PlotOptions& options) {
    Plot& plot = widgets_->get_plot(name, options);
    plot.kind = PlotKind::Bars;
    plot.series = {{"", values, {}}};
}

void Gui::heat_map(const std::string& name, const HeatMap& map) {
    if (map.rows < 0 || map.columns < 0 ||
        map.values.size() != static_cast<size_t>(map.rows) * static_cast<size_t>(map.columns))
        throw UserError("heat_map '" + name + "': " + std::to_string(map.rows) + " rows of " +
                        std::to_string(map.columns) + " take " +
                        std::to_string(int64_t{map.rows} * map.columns) + " values, and it has " +
                        std::to_string(map.values.size()) + "; give one for each");
    Widget& widget = widgets_->get(Widget::Kind::HeatMap, name, map.options.help);
    widget.group = map.options.group;
    widget.heat_map = map;
}

}  // namespace firn
