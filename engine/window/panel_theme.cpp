// The looks of the panel, set in Dear ImGui.
#include "engine/window/panel_theme.h"

#include <imgui.h>

#include <initializer_list>

#include "engine/window/typeface.h"

namespace firn {
namespace {

constexpr float kLinePixels = 17;

struct Colours {
    ImVec4 accent, frame, hover, active, background, separator, text, dim, loud;
};
const Colours kDark{.accent = {0.36f, 0.62f, 0.86f, 1},
                    .frame = {0.16f, 0.18f, 0.22f, 1},
                    .hover = {0.21f, 0.25f, 0.31f, 1},
                    .active = {0.26f, 0.32f, 0.40f, 1},
                    .background = {0.075f, 0.085f, 0.105f, 0.94f},
                    .separator = {0.2f, 0.23f, 0.28f, 1},
                    .text = {0.90f, 0.92f, 0.95f, 1},
                    .dim = {0.58f, 0.62f, 0.68f, 1},
                    .loud = {0.98f, 0.74f, 0.36f, 1}};
const Colours kLight{.accent = {0.16f, 0.45f, 0.75f, 1},
                     .frame = {0.87f, 0.89f, 0.92f, 1},
                     .hover = {0.81f, 0.85f, 0.90f, 1},
                     .active = {0.73f, 0.80f, 0.88f, 1},
                     .background = {0.97f, 0.975f, 0.985f, 0.95f},
                     .separator = {0.80f, 0.83f, 0.87f, 1},
                     .text = {0.10f, 0.12f, 0.16f, 1},
                     .dim = {0.38f, 0.42f, 0.48f, 1},
                     .loud = {0.72f, 0.32f, 0.02f, 1}};

}  // namespace

void load_font(float scale) {
    rasterise_typeface(*ImGui::GetIO().Fonts, kLinePixels * scale, true);
}

ImFont* code_font() {
    const ImVector<ImFont*>& fonts = ImGui::GetIO().Fonts->Fonts;
    return fonts.Size > 1 ? fonts[1] : ImGui::GetFont();
}

void apply_theme(float scale, bool light) {
    light ? ImGui::StyleColorsLight() : ImGui::StyleColorsDark();
    ImGuiStyle& style = ImGui::GetStyle();
    style.WindowRounding = 8;
    style.FrameRounding = style.GrabRounding = style.PopupRounding = 4;
    style.WindowBorderSize = style.FrameBorderSize = 0;
    style.WindowPadding = {kPanelPadding, kPanelPadding};
    style.FramePadding = {8, 4};
    style.ItemSpacing = {8, 7};
    style.GrabMinSize = 12;
    style.WindowTitleAlign = {0, 0.5f};
    const Colours& colours = light ? kLight : kDark;
    auto set = [&](std::initializer_list<int> places, ImVec4 value) {
        for (int place : places) style.Colors[place] = value;
    };
    set({ImGuiCol_WindowBg, ImGuiCol_PopupBg}, colours.background);
    set({ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed}, colours.background);
    set({ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Header}, colours.frame);
    set({ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered}, colours.hover);
    set({ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive}, colours.active);
    set({ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive, ImGuiCol_CheckMark, ImGuiCol_PlotLines},
        colours.accent);
    set({ImGuiCol_Separator}, colours.separator);
    set({ImGuiCol_ModalWindowDimBg}, {0, 0, 0, 0.45f});
    set({ImGuiCol_Text}, colours.text);
    set({ImGuiCol_TextDisabled}, colours.dim);
    set({ImGuiCol_PlotLinesHovered}, colours.loud);  // no plot of ImGui's own is drawn
    style.ScaleAllSizes(scale);
}

void draw_fitting(const std::string& text, float width) {
    const char* end = text.c_str() + text.size();
    if (ImGui::CalcTextSize(text.c_str(), end).x <= width)
        return ImGui::TextUnformatted(text.c_str());
    const float left = width - ImGui::CalcTextSize("\u2026").x;
    const char* cut = end;
    while (cut > text.c_str() && ImGui::CalcTextSize(text.c_str(), cut).x > left) {
        --cut;
        while (cut > text.c_str() && (*cut & 0xc0) == 0x80) --cut;  // within a character
    }
    ImGui::TextUnformatted((std::string(text.c_str(), cut) + "\u2026").c_str());
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", text.c_str());
}

ImVec4 dim_text() { return ImGui::GetStyle().Colors[ImGuiCol_TextDisabled]; }
ImVec4 loud_text() { return ImGui::GetStyle().Colors[ImGuiCol_PlotLinesHovered]; }
ImU32 faint_line(float opacity) { return ImGui::GetColorU32(ImGuiCol_Text, opacity); }
bool is_light_theme() { return ImGui::GetStyle().Colors[ImGuiCol_Text].x < 0.5f; }

}  // namespace firn
