// Draws the question before a window ends, through Dear ImGui.
#include "engine/window/panel_question.h"

#include <imgui.h>

#include <algorithm>

#include "engine/window/panel_theme.h"

namespace firn {
namespace {

constexpr const char* kName = "##question";
constexpr float kMostWidth = 380;  // of its text, pixels at scale 1

void draw_answers(const PanelState& state, PanelActions& actions) {
    struct Answer {
        const char *text, *place;
        EndAnswer answer;
    };
    const Answer answers[] = {{"save and end (Enter)", "question save", EndAnswer::Save},
                              {"end without saving (E)", "question end", EndAnswer::End},
                              {"stay (Escape)", "question stay", EndAnswer::Stay}};
    float width = 0;
    for (const Answer& each : answers) width = std::max(width, ImGui::CalcTextSize(each.text).x);
    width += 2 * ImGui::GetStyle().FramePadding.x;
    for (const Answer& each : answers) {
        if (each.answer == EndAnswer::Save && !state.can_save) continue;
        if (ImGui::Button(each.text, {width, 0})) actions.answer = each.answer;
        const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
        actions.places.push_back({each.place, {from.x, from.y, to.x - from.x, to.y - from.y}});
    }
}

}  // namespace

void draw_question(const PanelState& state, float scale, PanelActions& actions) {
    const bool asks = !state.question.empty();
    if (asks && !ImGui::IsPopupOpen(kName)) ImGui::OpenPopup(kName);
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({window.x / 2, window.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
    if (!ImGui::BeginPopupModal(kName, nullptr,
                                ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoTitleBar |
                                    ImGuiWindowFlags_NoSavedSettings))
        return;
    ImGui::PushTextWrapPos(std::max(80.0f, std::min(kMostWidth * scale, window.x - 60 * scale)));
    ImGui::TextUnformatted(("Not saved: " + state.question).c_str());
    ImGui::PopTextWrapPos();
    ImGui::Spacing();
    draw_answers(state, actions);
    if (!asks) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

}  // namespace firn
