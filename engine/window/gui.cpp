// The widgets of a panel.
#include "engine/window/gui.h"

#include <utility>

#include "compiler/program/error.h"

namespace firn {

constexpr size_t kPlotLength = 240;

const Widget* Gui::find(const std::string& name) const {
    for (const Widget& widget : widgets_) {
        if (widget.name == name) return &widget;
    }
    return nullptr;
}

Widget& Gui::widget(Widget::Kind kind, const std::string& name, const std::string& help) {
    for (Widget& known : widgets_) {
        if (known.name != name) continue;
        if (known.kind != kind) {
            throw UserError("gui: two different widgets are named '" + name +
                            "'; give one another name");
        }
        return known;
    }
    Widget& made = widgets_.emplace_back();
    made.kind = kind;
    made.name = name;
    made.help = help;
    return made;
}

bool Gui::bind(Parameter parameter) {
    const Parameter& bound = parameters_.add(std::move(parameter));
    return std::exchange(widget(Widget::Kind::Parameter, bound.name, bound.help).touched, false);
}

bool Gui::slider(const std::string& name, float& value, float low, float high,
                 const SliderOptions& options) {
    return bind({name, options.help, &value, low, high, options.logarithmic});
}

bool Gui::slider(const std::string& name, int& value, int low, int high,
                 const SliderOptions& options) {
    return bind({name, options.help, &value, static_cast<double>(low), static_cast<double>(high),
                 options.logarithmic});
}

bool Gui::checkbox(const std::string& name, bool& value, const std::string& help) {
    return bind({.name = name, .help = help, .variable = &value});
}

bool Gui::combo(const std::string& name, int& index, const std::vector<std::string>& names,
                const std::string& help) {
    return bind({.name = name, .help = help, .variable = ChoiceVariable{&index, names}});
}

bool Gui::input(const std::string& name, std::string& value, const std::string& help) {
    return bind({.name = name, .help = help, .variable = &value});
}

bool Gui::button(const std::string& name, const std::string& help) {
    return std::exchange(widget(Widget::Kind::Button, name, help).touched, false);
}

void Gui::text(const std::string& name, const std::string& value) {
    widget(Widget::Kind::Text, name, "").text = value;
}

void Gui::plot(const std::string& name, float value) {
    std::vector<float>& history = widget(Widget::Kind::Plot, name, "").history;
    if (history.size() == kPlotLength) history.erase(history.begin());
    history.push_back(value);
}

void Gui::heading(const std::string& name) { widget(Widget::Kind::Heading, name, ""); }

}  // namespace firn
