// The widgets of a panel, through Dear ImGui.
#include "engine/window/panel_widgets.h"

#include <imgui.h>
#include <imgui_internal.h>  // how long the mouse rests

#include <algorithm>
#include <cstdio>
#include <set>

#include "engine/window/heat_map.h"
#include "engine/window/panel_theme.h"
#include "engine/window/parameter_fields.h"

namespace firn {
namespace {

constexpr float kWidgetWidth = 170, kTooltipWidth = 320, kHeatMapHeight = 170;
constexpr float kTooltipSeconds = 0.5f;

const std::string& label_of(const Widget& widget, const Parameter* parameter) {
    const std::string& label = parameter ? parameter->label : widget.label;
    return label.empty() ? widget.name : label;
}
const std::string& group_of(const Widget& widget, const Parameter* parameter) {
    return parameter ? parameter->group : widget.group;
}
const Parameter* parameter_of(const Widgets& widgets, const Widget& widget) {
    return widget.kind == Widget::Kind::Parameter ? widgets.parameters.find(widget.name) : nullptr;
}

/// Shows a parameter's meaning, its name elsewhere, and its accepted values.
void draw_tooltip(const Widgets& widgets, const Widget& widget, const Parameter* parameter,
                  float scale) {
    if (!ImGui::IsItemHovered() || (widget.help.empty() && !parameter)) return;
    if (GImGui->HoveredIdTimer < kTooltipSeconds) return;  // on the way to another
    const ImVec2 panel = ImGui::GetWindowPos(), item = ImGui::GetItemRectMin();
    ImGui::SetNextWindowPos({panel.x + ImGui::GetWindowWidth() + 8 * scale, item.y});
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(kTooltipWidth * scale);
    const std::string& help = parameter ? parameter->help : widget.help;
    if (!help.empty()) ImGui::TextUnformatted(help.c_str());
    if (parameter)
        ImGui::TextColored(dim_text(), "%s: %s, default %s", parameter->name.c_str(),
                           describe(*parameter).c_str(),
                           widgets.parameters.initial(parameter->name).c_str());
    if (parameter && parameter->structural)
        ImGui::TextColored(dim_text(), "a change recompiles the program in the background");
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

/// Opens by the right button: a return to the first value, and the name and value for a command
/// line.
void draw_menu(Widgets& widgets, const Parameter& parameter) {
    if (!ImGui::BeginPopupContextItem(("menu of " + parameter.name).c_str())) return;
    const std::string& first = widgets.parameters.initial(parameter.name);
    if (ImGui::MenuItem(("reset to " + first).c_str())) {
        widgets.parameters.set(parameter.name, first);
        widgets.edited.push_back(parameter.name);
    }
    const std::string word = parameter.name + "=" + text_of(parameter);
    if (ImGui::MenuItem(("copy " + word).c_str())) ImGui::SetClipboardText(word.c_str());
    ImGui::EndPopup();
}

/// Opens by the right button: saves the numbers of a plot.
void draw_plot_menu(const Widget& widget, PanelActions& actions) {
    if (!ImGui::BeginPopupContextItem(("menu of " + widget.name).c_str())) return;
    if (ImGui::MenuItem("save as .csv")) actions.save_plot = widget.name;
    const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
    actions.places.push_back(
        {"save " + widget.name, {from.x, from.y, to.x - from.x, to.y - from.y}});
    if (ImGui::MenuItem("copy as CSV")) ImGui::SetClipboardText(csv_text(widget.plot).c_str());
    ImGui::TextColored(dim_text(),
                       "the wheel zooms along x, dragging shifts,\na double click shows all");
    ImGui::EndPopup();
}

void draw_widget(Widgets& widgets, Widget& widget, const Columns& columns, float scale,
                 PanelActions& actions) {
    const Parameter* parameter = parameter_of(widgets, widget);
    const std::string& label = label_of(widget, parameter);
    if (widget.kind == Widget::Kind::Button) {
        if (ImGui::Button((label + "##" + widget.name).c_str(), {columns.all_width, 0}))
            ++widget.presses;
    } else {
        ImGui::AlignTextToFramePadding();
        draw_fitting(label, columns.second - ImGui::GetCursorPosX());
        ImGui::SameLine(columns.second);
        ImGui::SetNextItemWidth(columns.second_width);
        if (widget.kind == Widget::Kind::Text)
            ImGui::TextUnformatted(widget.text.c_str());
        else if (widget.kind == Widget::Kind::Plot)
            draw_plot("##" + widget.name, widget.plot, columns.second_width, scale);
        else if (widget.kind == Widget::Kind::HeatMap)
            draw_heat_map("##" + widget.name, widget.heat_map, columns.second_width,
                          kHeatMapHeight * scale);
        else if (draw_field(("##" + widget.name).c_str(), *parameter, widget.typed, actions)) {
            widgets.parameters.touch(widget.name);
            widgets.edited.push_back(widget.name);
        }
    }
    const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
    widget.rectangle = {from.x, from.y, to.x - from.x, to.y - from.y};
    if (widget.kind == Widget::Kind::Plot) draw_plot_menu(widget, actions);
    draw_tooltip(widgets, widget, parameter, scale);
    if (!parameter) return;
    draw_menu(widgets, *parameter);
    for (const std::string& text : {parameter->state, widget.typed.refused}) {
        if (text.empty()) continue;
        ImGui::PushStyleColor(ImGuiCol_Text, loud_text());
        ImGui::PushTextWrapPos(columns.second + columns.second_width);
        ImGui::TextUnformatted(text.c_str());
        ImGui::PopTextWrapPos();
        ImGui::PopStyleColor();
    }
}

}  // namespace

std::vector<std::string> headers_of(const Widgets& widgets) {
    std::vector<std::string> out;
    for (const Widget& widget : widgets.all) {
        const std::string& group = group_of(widget, parameter_of(widgets, widget));
        if (!group.empty() && std::find(out.begin(), out.end(), group) == out.end())
            out.push_back(group);
    }
    return out;
}

Columns columns_of(const Widgets& widgets, float controls_width, float most, float scale) {
    float widest = 0;
    for (const Widget& widget : widgets.all) {
        if (widget.kind == Widget::Kind::Button) continue;
        const std::string& label = label_of(widget, parameter_of(widgets, widget));
        widest = std::max(widest, ImGui::CalcTextSize(label.c_str()).x);
    }
    const float padding = ImGui::GetStyle().WindowPadding.x, gap = 14 * scale;
    widest = std::min(widest, (most - gap) / 2);
    Columns columns;
    columns.second = padding + widest + gap;
    columns.second_width = std::min(std::max(kWidgetWidth * scale, controls_width - widest - gap),
                                    most - widest - gap);
    columns.all_width = widest + gap + columns.second_width;
    return columns;
}

void draw_widgets(Widgets& widgets, const Columns& columns, float scale, PanelActions& actions) {
    if (widgets.edited.empty()) widgets.before = widgets.parameters.values();
    std::set<std::string> drawn;
    for (Widget& widget : widgets.all) {
        const std::string& group = group_of(widget, parameter_of(widgets, widget));
        if (group.empty()) {
            draw_widget(widgets, widget, columns, scale, actions);
            continue;
        }
        if (!drawn.insert(group).second) continue;
        const bool open = ImGui::CollapsingHeader(group.c_str(), ImGuiTreeNodeFlags_DefaultOpen);
        for (Widget& each : widgets.all) {
            if (group_of(each, parameter_of(widgets, each)) != group) continue;
            if (open)
                draw_widget(widgets, each, columns, scale, actions);
            else
                each.rectangle = {};
        }
    }
    if (widgets.edited.empty() || ImGui::IsAnyItemActive()) return;
    widgets.history.note(widgets.parameters, widgets.before, widgets.edited);
    widgets.edited.clear();
}

}  // namespace firn
