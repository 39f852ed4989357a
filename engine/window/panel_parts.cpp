// Draws the panel's own parts for the window, through Dear ImGui.
#include "engine/window/panel_parts.h"

#include <imgui.h>

#include <algorithm>
#include <cstdio>

#include "engine/window/colour_map.h"
#include "engine/window/panel_theme.h"

namespace firn {
namespace {

constexpr float kKeysWidth = 300, kKeyColumn = 130;

struct KeyRow {
    const char *key, *meaning;
};
constexpr KeyRow kKeyRows[] = {
    {"Space", "pause or resume: sliders and views stay live"},
    {"N", "advance by one frame, then pause"},
    {"R", "restart the program's simulation"},
    {"S", "save the frame as a PNG"},
    {"H", "hide or show the panel; a double click on its title folds it"},
    {"Ctrl over a picture", "show the value under the mouse; wheel: zoom, drag: pan"},
    {"Right click on a picture", "save it, or copy the value there (some programs need Ctrl)"},
    {"F2", "open the inspector: kernels, tensors, schedule, memory"},
    {"F3", "show or hide all messages since the start"},
    {"F9", "record a video, until F9 is pressed again"},
    {"Right click on video", "choose its frames per second"},
    {"F11", "full screen"},
    {"Ctrl+Z", "undo a change of a parameter or view"},
    {"Ctrl+Shift+Z", "redo it"},
    {"Shift while dragging", "change the value ten times finer"},
    {"Ctrl+click on a slider", "type its value"},
    {"Right click on a slider", "reset or copy its value"},
    {"Wheel and drag on a plot", "zoom along x and pan; a double click shows all"},
    {"Right click on a plot", "save or copy its numbers as CSV"},
    {"?", "show or hide this list"},
    {"Escape", "close what is open (list, menu, messages, inspector), else quit"},
};

constexpr KeyRow kCameraRows[] = {
    {"Drag", "rotate the camera"},
    {"Right drag, or with Shift", "pan"},
    {"Wheel", "zoom"},
    {"Arrows, Page Up and Down", "move the camera"},
    {"Home", "reset the camera"},
};

void draw_key_row(const KeyRow& row, float scale) {
    ImGui::TextUnformatted(row.key);
    ImGui::SameLine((kKeyColumn + 60) * scale);
    ImGui::TextColored(dim_text(), "%s", row.meaning);
}

/// Draws text that ends `width` pixels from here.
void draw_right(float width, const char* text) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + width - ImGui::CalcTextSize(text).x);
    ImGui::TextUnformatted(text);
}

/// Returns frames per second, with two digits if they are few.
std::string rate_text(double milliseconds) {
    char text[48];
    const double rate = 1000 / milliseconds;
    std::snprintf(text, sizeof text, rate < 10 ? "%.2g frames/s" : "%.0f frames/s", rate);
    return text;
}

}  // namespace

void draw_state(const PanelState& state, float most) {
    if (state.frame_milliseconds > 0) {
        ImGui::Text("%.1f ms", state.frame_milliseconds);
        ImGui::SameLine();
        ImGui::TextColored(dim_text(), "%s%s", rate_text(state.frame_milliseconds).c_str(),
                           state.paused ? ", paused" : "");
    }
    ImGui::PushStyleColor(ImGuiCol_Text, dim_text());
    draw_fitting(state.device, most);
    ImGui::PopStyleColor();
    if (!state.recording.empty()) ImGui::TextColored(loud_text(), "%s", state.recording.c_str());
}

namespace {

/// Draws the menu for the frame rate of videos that are recorded from now on.
void draw_video_rate(const PanelState& state, PanelActions& actions) {
    if (!ImGui::BeginPopupContextItem("video rate")) return;
    ImGui::TextColored(dim_text(), "frames per second of a video");
    const auto item = [&](const std::string& text, double rate) {
        if (ImGui::MenuItem(text.c_str(), nullptr, state.video_rate == rate))
            actions.video_rate = rate;
        const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
        actions.places.push_back(
            {"video rate " + text, {from.x, from.y, to.x - from.x, to.y - from.y}});
    };
    for (int rate : {60, 30, 24, 10, 5, 2, 1}) item(std::to_string(rate), rate);
    item("as they come", 0);
    ImGui::EndPopup();
}

}  // namespace

float draw_controls(const PanelState& state, float most, PanelActions& actions) {
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    float right = 0, widest = 0;
    auto control = [&](const char* name, const char* help, float width = 0) {
        const float own =
            std::max(width, ImGui::CalcTextSize(name).x + 2 * ImGui::GetStyle().FramePadding.x);
        const bool same_row = right > 0 && right + gap + own <= most;
        if (same_row) ImGui::SameLine();
        right = (same_row ? right + gap : 0) + own;
        widest = std::max(widest, right);
        bool pressed = ImGui::Button(name, {width, 0});
        if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", help);
        return pressed;
    };
    // The button has the same width with either name, so that nothing moves below.
    const float pause_width = ImGui::CalcTextSize("pause").x + 2 * ImGui::GetStyle().FramePadding.x;
    actions.pause |= control(state.paused ? "run" : "pause", "Space", pause_width);
    actions.step |= control("step", "N: advance by one frame, then pause");
    actions.reset |= control("reset", "R: restart");
    actions.screenshot |=
        control("save", "S: save the frame as a PNG (H hides this panel, ? lists all keys)");
    if (state.can_record) {
        const float width =
            std::max(ImGui::CalcTextSize("stop").x, ImGui::CalcTextSize("video").x) +
            2 * ImGui::GetStyle().FramePadding.x;
        actions.record |= control(
            state.recording.empty() ? "video" : "stop",
            "F9: record a video, until F9 is pressed again; right click: frames per second", width);
        const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
        actions.places.push_back({"video", {from.x, from.y, to.x - from.x, to.y - from.y}});
        draw_video_rate(state, actions);
    }
    return widest;
}

void draw_presets(Widgets& widgets, const PanelState& state, float width, PanelActions& actions) {
    if (widgets.parameters.all().empty()) return;
    const auto note = [&](const char* name) {
        const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
        actions.places.push_back({name, {from.x, from.y, to.x - from.x, to.y - from.y}});
    };
    if (ImGui::Button("defaults", {width, 0})) actions.defaults = true;
    note("defaults");
    const bool open = ImGui::CollapsingHeader("presets");
    note("presets");
    if (!open) return;
    std::string& path = widgets.preset_path;
    if (path.empty()) path = state.title + ".json";
    char buffer[512];
    std::snprintf(buffer, sizeof buffer, "%s", path.c_str());
    ImGui::SetNextItemWidth(width);
    if (ImGui::InputText("##preset file", buffer, sizeof buffer)) path = buffer;
    note("preset file");
    if (ImGui::Button("save##preset")) actions.save_preset = path;
    note("save preset");
    ImGui::SameLine();
    if (ImGui::Button("load##preset")) actions.load_preset = path;
    note("load preset");
    if (ImGui::Button("copy as command line", {width, 0}))
        ImGui::SetClipboardText(command_line_of(widgets.parameters, state.title).c_str());
    note("copy command");
}

void draw_kernels(const PanelState& state, PanelActions& actions) {
    actions.kernels_open = ImGui::CollapsingHeader("kernel times");
    if (!actions.kernels_open) return;
    auto per_frame = [&](const KernelTime& kernel) {
        return static_cast<double>(kernel.dispatches) / state.kernel_frames;
    };
    double total = 0;
    for (const KernelTime& kernel : state.kernels) total += kernel.milliseconds * per_frame(kernel);
    if (state.kernels.empty())
        ImGui::TextColored(dim_text(), "no kernels ran");
    else  // first, so that it is seen above a long table
        ImGui::Text("%.3f ms per frame", total);
    if (!ImGui::BeginTable("kernels", 3, ImGuiTableFlags_SizingFixedFit)) return;
    const float width = ImGui::CalcTextSize("10000.000 ms").x;
    for (const KernelTime& kernel : state.kernels) {
        char text[32];
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(kernel.name.c_str());
        ImGui::TableNextColumn();
        ImGui::TextColored(dim_text(), "%.3g x", per_frame(kernel));
        ImGui::TableNextColumn();
        std::snprintf(text, sizeof text, "%.3f ms", kernel.milliseconds * per_frame(kernel));
        draw_right(width, text);
    }
    ImGui::EndTable();
}

void draw_picture_menu(const PanelState& state, PanelActions& actions) {
    constexpr const char* kName = "##picture";
    if (state.opens_menu) ImGui::OpenPopup(kName);
    actions.menu_opened |= state.opens_menu;
    if (!ImGui::BeginPopup(kName)) return;
    const auto item = [&](const std::string& text) {
        const bool chosen = ImGui::MenuItem(text.c_str());
        const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
        actions.places.push_back({text, {from.x, from.y, to.x - from.x, to.y - from.y}});
        return chosen;
    };
    ImGui::TextColored(dim_text(), "%s", state.menu_title.c_str());
    for (const std::string& ending : state.menu_endings)
        if (item("save as " + ending)) actions.save_picture = ending;
    if (!state.menu_value.empty()) {
        ImGui::Separator();
        const bool has_nan = state.menu_value.find("nan") != std::string::npos;
        ImGui::TextUnformatted((state.menu_value + (has_nan ? kNanNote : "")).c_str());
        if (item("copy")) ImGui::SetClipboardText(state.menu_value.c_str());
    }
    ImGui::Separator();
    if (item(state.log_open ? "hide all messages" : "show all messages")) actions.log = true;
    ImGui::EndPopup();
}

void draw_keys(const PanelState& state, float scale, PanelActions& actions) {
    if (!state.keys_open) return;
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({window.x / 2, window.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
    bool open = true;
    ImGui::Begin("keys", &open,
                 ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoMove);
    for (const KeyRow& row : kKeyRows) draw_key_row(row, scale);
    if (state.in_space) ImGui::Separator();
    for (const KeyRow& row : kCameraRows)
        if (state.in_space) draw_key_row(row, scale);
    if (!state.keys.empty()) {
        ImGui::Separator();
        ImGui::PushTextWrapPos((kKeyColumn + 60 + kKeysWidth) * scale);
        ImGui::TextUnformatted(state.keys.c_str());
        ImGui::PopTextWrapPos();
    }
    ImGui::End();
    if (!open) actions.keys = true;
}

}  // namespace firn
