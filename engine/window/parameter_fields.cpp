// Fields for each kind of parameter, through Dear ImGui.
#include "engine/window/parameter_fields.h"

#include <imgui.h>
#include <imgui_internal.h>  // whether a number is typed into a slider

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

#include "compiler/base/error.h"
#include "engine/parameters/parameter_text.h"

namespace firn {
namespace {

constexpr float kFine = 0.1f;  // of a drag while Shift is held
constexpr float kDegrees = 180 / 3.14159265f;
// The menu of the right button is Firn's own.
constexpr ImGuiColorEditFlags kColourFlags =
    ImGuiColorEditFlags_DisplayHex | ImGuiColorEditFlags_NoOptions;

constexpr ImGuiInputTextFlags kTextFlags =
    ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_AutoSelectAll;
/// The gap between the components of a vector.
constexpr float kComponentGap = 3;

/// Enlarges the text as it is typed.
int resize_text(ImGuiInputTextCallbackData* data) {
    if (data->EventFlag != ImGuiInputTextFlags_CallbackResize) return 0;
    auto* text = static_cast<std::string*>(data->UserData);
    text->resize(static_cast<size_t>(data->BufTextLen));
    data->Buf = text->data();
    return 0;
}

/// Draws a text, which is taken as it is typed.
bool draw_text(const char* label, const Parameter& parameter, PanelActions& actions) {
    std::string text = text_of(parameter);
    if (!ImGui::InputText(label, text.data(), text.capacity() + 1, kTextFlags, resize_text, &text))
        return false;
    try {
        assign(parameter, text.c_str());
        return true;
    } catch (const UserError& error) {
        actions.refused = error.what();
        return false;
    }
}

/// Draws the name of a file, which is taken when it is confirmed, by Enter or by leaving the field:
/// while it is typed it names other files. A refused name stays to be corrected; Escape drops it.
bool draw_file(const char* label, const Parameter& parameter, TypedText& typed,
               PanelActions& actions) {
    std::string text = typed.text.value_or(text_of(parameter));
    const bool entered =
        ImGui::InputText(label, text.data(), text.capacity() + 1,
                         kTextFlags | ImGuiInputTextFlags_EnterReturnsTrue, resize_text, &text);
    text = text.c_str();
    const bool left = ImGui::IsItemDeactivated();
    const bool dropped = left && !entered && ImGui::IsKeyPressedMap(ImGuiKey_Escape, false);
    if (dropped) typed = {};
    if (ImGui::IsItemActive() && text != typed.text.value_or(text_of(parameter))) typed.text = text;
    if (dropped || !(entered || left) || !typed.text) return false;
    try {
        assign(parameter, entered ? text : *typed.text);
        typed = {};
        return true;
    } catch (const UserError& error) {
        if (entered) typed.text = text;
        typed.refused = actions.refused = error.what();
        return false;
    }
}

bool draw_choice(const char* label, const ChoiceVariable& choice) {
    auto index = static_cast<size_t>(*choice.index);
    if (!ImGui::BeginCombo(label, index < choice.names.size() ? choice.names[index].c_str() : ""))
        return false;
    bool changed = false;
    for (size_t i = 0; i < choice.names.size(); ++i) {
        if (ImGui::Selectable(choice.names[i].c_str(), i == index)) {
            *choice.index = static_cast<int>(i);
            changed = true;
        }
    }
    ImGui::EndCombo();
    return changed;
}

/// Clamps a typed value to the range, and says why.
template <class T>
void keep_in_range(const Parameter& parameter, T before, T& value, PanelActions& actions) {
    const auto compared = static_cast<double>(value);
    // The comparison uses the variable's own precision, as for texts.
    using Compared = std::conditional_t<std::is_same_v<T, float>, float, double>;
    const bool inside = !has_range(parameter) || (value >= static_cast<Compared>(parameter.low) &&
                                                  value <= static_cast<Compared>(parameter.high));
    if (std::isfinite(compared) && inside) return;
    const std::string typed = std::to_string(value);
    value = std::isfinite(compared)
                ? static_cast<T>(std::clamp(compared, parameter.low, parameter.high))
                : before;
    const char* why = !std::isfinite(compared)    ? "not a finite number"
                      : compared > parameter.high ? "above the maximum"
                                                  : "below the minimum";
    actions.refused =
        parameter.name + ": " + typed + " is " + why + ", set to " + text_of(parameter);
}

/// The ends of the slider; equal: the number is dragged instead.
struct Ends {
    double low = 0, high = 0;
    bool is_slider() const { return low < high; }
};
Ends ends_of(const Parameter& parameter) {
    if (parameter.step > 0) return {};
    if (parameter.soft_low < parameter.soft_high) return {parameter.soft_low, parameter.soft_high};
    const bool finite = std::isfinite(parameter.low) && std::isfinite(parameter.high);
    return finite && has_range(parameter) ? Ends{parameter.low, parameter.high} : Ends{};
}

/// Returns a format with as many digits as show a change of `step`, four at least, so that small
/// ranges can be read; and the unit.
std::string number_format(const Parameter& parameter, bool whole, const char* unit = nullptr) {
    const double ends = std::max(std::abs(parameter.low), std::abs(parameter.high)),
                 largest = std::isfinite(ends) ? ends : 0;
    const double digits =
        parameter.step > 0 && largest > 0 ? std::ceil(std::log10(largest / parameter.step)) + 1 : 4;
    std::string format =
        whole ? "%d" : "%." + std::to_string(static_cast<int>(std::clamp(digits, 4.0, 9.0))) + "g";
    if (unit) return format + unit;
    if (!parameter.unit.empty()) format += ' ';
    for (char c : parameter.unit) format += c == '%' ? "%%" : std::string(1, c);
    return format;
}

/// Returns the place of a value between the ends of its slider, and the value at a place.
double share_of(const Ends& ends, bool logarithmic, double value) {
    if (logarithmic && ends.low > 0)
        return std::log(value / ends.low) / std::log(ends.high / ends.low);
    return (value - ends.low) / (ends.high - ends.low);
}
double at_share(const Ends& ends, bool logarithmic, double share) {
    share = std::clamp(share, 0.0, 1.0);
    if (logarithmic && ends.low > 0) return ends.low * std::pow(ends.high / ends.low, share);
    return ends.low + share * (ends.high - ends.low);
}

/// The fine drag of a slider: it moves a tenth as far from the place at which Shift was pressed.
struct FineDrag {
    float mouse = 0;
    double share = 0;
    bool on = false;
};
FineDrag& fine_drag() {
    static thread_local FineDrag drag;  // one mouse, and one item that it drags
    return drag;
}

/// Replaces the slider's own value while the drag is fine.
bool drag_finely(const Ends& ends, bool logarithmic, double before, double& value) {
    FineDrag& drag = fine_drag();
    const ImGuiIO& io = ImGui::GetIO();
    if (!ImGui::IsItemActive()) return false;
    if (!io.KeyShift || !io.MouseDown[0] || ImGui::IsItemActivated()) {
        drag.on = false;
        return false;
    }
    if (!drag.on) drag = {io.MousePos.x, share_of(ends, logarithmic, before), true};
    const double width = std::max(1.0f, ImGui::GetItemRectSize().x);
    value = at_share(ends, logarithmic,
                     drag.share + static_cast<double>(kFine) *
                                      static_cast<double>(io.MousePos.x - drag.mouse) / width);
    return true;
}

/// Draws a slider that is filled up to its value, with the number in the larger free part. While
/// this object lives, Dear ImGui draws neither the knob nor the text.
class FilledSlider {
  public:
    explicit FilledSlider(const char* label)
        : typed_(ImGui::TempInputIsActive(ImGui::GetID(label))),
          ink_(ImGui::GetColorU32(ImGuiCol_Text)) {
        const ImVec4 nothing{0, 0, 0, 0};
        for (ImGuiCol colour : {ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive})
            ImGui::PushStyleColor(colour, nothing);
        ImGui::PushStyleColor(ImGuiCol_Text,
                              typed_ ? ImGui::GetStyle().Colors[ImGuiCol_Text] : nothing);
    }
    ~FilledSlider() { ImGui::PopStyleColor(3); }
    FilledSlider(const FilledSlider&) = delete;
    FilledSlider& operator=(const FilledSlider&) = delete;

    /// `steps`: the number of values of the slider, 0 if they are not whole numbers.
    void draw(double share, int steps, const char* text) const {
        if (typed_) return;
        const ImGuiStyle& style = ImGui::GetStyle();
        const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
        // Computes the middle of the knob as Dear ImGui does.
        const float room = to.x - from.x - 4;
        const float knob =
            std::max(style.GrabMinSize, steps > 0 ? room / static_cast<float>(steps) : 0);
        const auto part = static_cast<float>(std::clamp(share, 0.0, 1.0));
        const float x = from.x + 2 + knob / 2 + part * std::max(0.0f, room - knob);
        ImVec4 accent = style.Colors[ImGuiCol_CheckMark];
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        const float half = std::max(1.5f, 0.12f * ImGui::GetFontSize());
        draw.PushClipRect(from, to, true);
        draw.AddRectFilled({x - half, from.y}, {x + half, to.y}, ImGui::GetColorU32(accent), half);
        accent.w = 0.38f;
        draw.AddRectFilled(from, {x, to.y}, ImGui::GetColorU32(accent), style.FrameRounding);
        const ImVec2 size = ImGui::CalcTextSize(text);
        const float left =
            part < 0.5f ? to.x - style.FramePadding.x - size.x : from.x + style.FramePadding.x;
        draw.AddText({left, from.y + (to.y - from.y - size.y) / 2}, ink_, text);
        draw.PopClipRect();
    }

  private:
    bool typed_;  // a number is being typed into it
    ImU32 ink_;
};

bool draw_float(const char* label, const Parameter& parameter, float& value,
                PanelActions& actions) {
    const bool angle = parameter.look == ParameterLook::Angle;
    const float unit = angle ? kDegrees : 1.0f, before = value;
    const Ends ends = ends_of(parameter);
    const std::string format = number_format(parameter, false, angle ? "\u00b0" : nullptr);
    const ImGuiSliderFlags flags =
        ImGuiSliderFlags_NoRoundToFormat |
        (parameter.logarithmic ? ImGuiSliderFlags_Logarithmic : ImGuiSliderFlags_None);
    float shown = value * unit;
    bool changed = false;
    if (ends.is_slider()) {
        const FilledSlider filled(label);
        changed = ImGui::SliderFloat(label, &shown, static_cast<float>(ends.low) * unit,
                                     static_cast<float>(ends.high) * unit, format.c_str(), flags);
        if (double fine = 0;
            drag_finely(ends, parameter.logarithmic, static_cast<double>(before), fine)) {
            shown = static_cast<float>(fine) * unit;
            changed = true;
        }
        char text[64];
        std::snprintf(text, sizeof text, format.c_str(), static_cast<double>(shown));
        filled.draw(share_of(ends, parameter.logarithmic, static_cast<double>(shown / unit)), 0,
                    text);
    } else {
        const float step = parameter.step > 0 ? static_cast<float>(parameter.step)
                                              : std::max(std::abs(value), 1e-3f) * 0.005f;
        // With Shift, Dear ImGui makes drags ten times coarser.
        const float speed = step * unit * (ImGui::GetIO().KeyShift ? kFine * kFine : 1.0f);
        const bool ranged = has_range(parameter);
        changed = ImGui::DragFloat(label, &shown, speed,
                                   ranged ? static_cast<float>(parameter.low) * unit : 0,
                                   ranged ? static_cast<float>(parameter.high) * unit : 0,
                                   format.c_str(), ImGuiSliderFlags_NoRoundToFormat);
    }
    if (!changed) return false;
    value = shown / unit;
    keep_in_range(parameter, before, value, actions);
    return value != before;
}

bool draw_int(const char* label, const Parameter& parameter, int& value, PanelActions& actions) {
    const int before = value;
    const Ends ends = ends_of(parameter);
    const std::string format = number_format(parameter, true);
    bool changed = false;
    if (ends.is_slider()) {
        const FilledSlider filled(label);
        changed = ImGui::SliderInt(
            label, &value, static_cast<int>(ends.low), static_cast<int>(ends.high), format.c_str(),
            parameter.logarithmic ? ImGuiSliderFlags_Logarithmic : ImGuiSliderFlags_None);
        if (double fine = 0; drag_finely(ends, parameter.logarithmic, before, fine)) {
            value = static_cast<int>(std::lround(fine));
            changed = true;
        }
        char text[64];
        std::snprintf(text, sizeof text, format.c_str(), value);
        const double steps = std::min(ends.high - ends.low + 1, 1e6);
        filled.draw(share_of(ends, parameter.logarithmic, value), static_cast<int>(steps), text);
    } else {
        changed = ImGui::DragInt(label, &value, ImGui::GetIO().KeyShift ? 0.01f : 0.2f, 0, 0,
                                 format.c_str());
    }
    if (changed) keep_in_range(parameter, before, value, actions);
    return changed && value != before;
}

/// Draws a field for each component, like that of a single number.
bool draw_vector(const char* label, const Parameter& parameter, const VectorVariable& vector,
                 PanelActions& actions) {
    if (parameter.look == ParameterLook::Colour)
        return vector.count == 4 ? ImGui::ColorEdit4(label, vector.values, kColourFlags)
                                 : ImGui::ColorEdit3(label, vector.values, kColourFlags);
    const float all = ImGui::CalcItemWidth(), gaps = kComponentGap * float(vector.count - 1);
    const float width = std::max(1.0f, std::floor((all - gaps) / float(vector.count)));
    bool changed = false;
    ImGui::BeginGroup();
    ImGui::PushID(label);
    for (int k = 0; k < vector.count; ++k) {
        if (k > 0) ImGui::SameLine(0, kComponentGap);
        ImGui::SetNextItemWidth(width);
        const std::string name = "##" + std::to_string(k);
        changed |= draw_float(name.c_str(), parameter, vector.values[k], actions);
    }
    ImGui::PopID();
    ImGui::EndGroup();
    return changed;
}

}  // namespace

bool draw_field(const char* label, const Parameter& parameter, TypedText& typed,
                PanelActions& actions) {
    if (auto* value = std::get_if<float*>(&parameter.variable))
        return draw_float(label, parameter, **value, actions);
    if (auto* value = std::get_if<int*>(&parameter.variable))
        return draw_int(label, parameter, **value, actions);
    if (auto* value = std::get_if<bool*>(&parameter.variable))
        return ImGui::Checkbox(label, *value);
    if (std::holds_alternative<std::string*>(parameter.variable))
        return parameter.look == ParameterLook::File ? draw_file(label, parameter, typed, actions)
                                                     : draw_text(label, parameter, actions);
    if (auto* vector = std::get_if<VectorVariable>(&parameter.variable))
        return draw_vector(label, parameter, *vector, actions);
    return draw_choice(label, std::get<ChoiceVariable>(parameter.variable));
}

}  // namespace firn
