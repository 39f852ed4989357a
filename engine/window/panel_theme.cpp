// How the panel looks, told to Dear ImGui.
#include "engine/window/panel_theme.h"

#include <imgui.h>

#include <algorithm>
#include <filesystem>

namespace firn {
namespace {

constexpr float kFontPixels = 16;
/// Where distributions keep a readable font; without one, the GUI falls back to ImGui's own.
constexpr const char* kFonts[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                                  "/usr/share/fonts/TTF/DejaVuSans.ttf",
                                  "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf"};

}  // namespace

void load_font(float scale) {
    ImGuiIO& io = ImGui::GetIO();
    static constexpr ImWchar ranges[] = {0x20,   0xff,   0x370,  0x3ff,  0x2013, 0x2026,
                                         0x2190, 0x2193, 0x2202, 0x2265, 0};
    ImFont* font = nullptr;
    for (const char* path : kFonts) {
        if (!font && std::filesystem::exists(path)) {
            font = io.Fonts->AddFontFromFileTTF(path, kFontPixels * scale, nullptr, ranges);
        }
    }
    if (!font) {
        ImFontConfig config;
        config.SizePixels = 13 * std::max(1.0f, scale);
        io.Fonts->AddFontDefault(&config);
    }
}

void apply_theme(float scale) {
    ImGui::StyleColorsDark();
    ImGuiStyle& style = ImGui::GetStyle();
    style.WindowRounding = 8;
    style.FrameRounding = style.GrabRounding = style.PopupRounding = 4;
    style.WindowBorderSize = style.FrameBorderSize = 0;
    style.WindowPadding = {kPanelPadding, kPanelPadding};
    style.FramePadding = {8, 4};
    style.ItemSpacing = {8, 7};
    style.GrabMinSize = 12;
    style.WindowTitleAlign = {0, 0.5f};
    const ImVec4 accent{0.36f, 0.62f, 0.86f, 1}, frame{0.16f, 0.18f, 0.22f, 1},
        hover{0.21f, 0.25f, 0.31f, 1}, active{0.26f, 0.32f, 0.40f, 1},
        background{0.075f, 0.085f, 0.105f, 0.94f};
    auto set = [&](std::initializer_list<int> colours, ImVec4 value) {
        for (int colour : colours) style.Colors[colour] = value;
    };
    set({ImGuiCol_WindowBg, ImGuiCol_PopupBg}, background);
    set({ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed}, background);
    set({ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Header}, frame);
    set({ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered}, hover);
    set({ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive}, active);
    set({ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive, ImGuiCol_CheckMark, ImGuiCol_PlotLines},
        accent);
    set({ImGuiCol_Separator}, {0.2f, 0.23f, 0.28f, 1});
    set({ImGuiCol_Text}, {0.90f, 0.92f, 0.95f, 1});
    style.ScaleAllSizes(scale);
}

}  // namespace firn
