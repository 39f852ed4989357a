// The widgets of a panel.
#include "engine/window/gui.h"

#include <memory>
#include <utility>

#include "compiler/program/error.h"
#include "engine/window/widgets.h"

namespace firn {

constexpr size_t kPlotLength = 240;

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

bool Widgets::bind(Parameter parameter) {
    const Parameter& bound = parameters.add(std::move(parameter));
    return std::exchange(get(Widget::Kind::Parameter, bound.name, bound.help).touched, false);
}

Gui::Gui() : widgets_(std::make_shared<Widgets>()) {}

Parameters& Gui::parameters() { return widgets_->parameters; }
const Parameters& Gui::parameters() const { return widgets_->parameters; }

const Widget* Gui::find(const std::string& name) const {
    for (const Widget& widget : widgets_->all) {
        if (widget.name == name) return &widget;
    }
    return nullptr;
}

bool Gui::slider(const std::string& name, float& value, float low, float high,
                 const SliderOptions& options) {
    return widgets_->bind(
        {name, options.help, &value, low, high, options.logarithmic, options.step});
}

bool Gui::slider(const std::string& name, int& value, int low, int high,
                 const SliderOptions& options) {
    return widgets_->bind({name, options.help, &value, static_cast<double>(low),
                           static_cast<double>(high), options.logarithmic});
}

bool Gui::checkbox(const std::string& name, bool& value, const std::string& help) {
    return widgets_->bind({.name = name, .help = help, .variable = &value});
}

bool Gui::combo(const std::string& name, int& index, const std::vector<std::string>& names,
                const std::string& help) {
    return widgets_->bind({.name = name, .help = help, .variable = ChoiceVariable{&index, names}});
}

bool Gui::input(const std::string& name, std::string& value, const std::string& help) {
    return widgets_->bind({.name = name, .help = help, .variable = &value});
}

bool Gui::button(const std::string& name, const std::string& help) {
    return std::exchange(widgets_->get(Widget::Kind::Button, name, help).touched, false);
}

void Gui::text(const std::string& name, const std::string& value) {
    widgets_->get(Widget::Kind::Text, name).text = value;
}

void Gui::plot(const std::string& name, float value) {
    std::vector<float>& history = widgets_->get(Widget::Kind::Plot, name).history;
    if (history.size() == kPlotLength) history.erase(history.begin());
    history.push_back(value);
}

void Gui::heading(const std::string& name) { widgets_->get(Widget::Kind::Heading, name); }

}  // namespace firn
