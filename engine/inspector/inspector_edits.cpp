// The inspector's editor: kernels that a person changes while they run.
#include <imgui.h>
#include <imgui_internal.h>  // how far the editor has scrolled

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <utility>

#include "engine/inspector/inspector.h"
#include "engine/window/panel_theme.h"

namespace firn {
namespace {

/// The longest time of a call with an edited kernel, in seconds, so that a person who steers the
/// picture does not wait longer; and the factor allowed for a kernel that was slow before.
constexpr double kMostSeconds = 1, kMostSlower = 10;

/// The least height of the editor, in lines; its page scrolls if there is less room.
constexpr float kLeastLines = 10;

/// Returns the lines that declare bindings and the size of a group.
std::vector<std::string> declarations(const std::string& glsl) {
    std::vector<std::string> out;
    std::istringstream in(glsl);
    for (std::string line; std::getline(in, line);)
        if (line.find("layout(") != std::string::npos) out.push_back(line);
    return out;
}

std::string line_of(const std::string& text, int number) {
    std::istringstream in(text);
    std::string line;
    for (int k = 0; k < number && std::getline(in, line); ++k) {
    }
    return line;
}

/// Draws the line numbers of an editor, left of it, as errors count them. The editor is the last
/// item.
void draw_line_numbers(const char* text, float width) {
    const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
    const ImVector<ImGuiWindow*>& children = ImGui::GetCurrentWindow()->DC.ChildWindows;
    const float scrolled = children.empty() ? 0 : children.back()->Scroll.y;
    const float height = ImGui::GetFontSize(), padding = ImGui::GetStyle().FramePadding.y;
    const auto lines = std::count(text, text + std::strlen(text), '\n') + 1;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.PushClipRect({from.x - width, from.y + padding}, {from.x, to.y - padding}, true);
    const auto first = static_cast<int64_t>(scrolled / height);
    const auto last =
        std::min<int64_t>(lines, first + static_cast<int64_t>((to.y - from.y) / height) + 2);
    for (int64_t k = first; k < last; ++k) {
        const std::string number = std::to_string(k + 1);
        const float right = from.x - ImGui::CalcTextSize(" ").x;
        draw.AddText({right - ImGui::CalcTextSize(number.c_str()).x,
                      from.y + padding - scrolled + static_cast<float>(k) * height},
                     ImGui::GetColorU32(ImGuiCol_TextDisabled), number.c_str());
    }
    draw.PopClipRect();
}

/// The message of an exception, line by line.
std::vector<std::string> lines_of(const std::exception& error) {
    std::vector<std::string> out;
    std::istringstream in(error.what());
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

}  // namespace

void Inspector::swap_in() {
    const KernelInfo& generated = selected_.program->kernels[selected_.kernel];
    const std::string text = text_.data();
    errors_.clear();
    said_.clear();
    try {
        if (declarations(text) != declarations(generated.artefact.text))
            throw UserError(
                "0: lines with layout(...) must not change, since the kernel's bindings are "
                "fixed");
        KernelInfo edited = generated;
        edited.artefact.text = text;
        edited.needs = {};  // those of the edited module
        edited.artefact.words = tools_.compile(text, generated.name);
        executor_->replace_kernel(selected_.program, selected_.kernel, edited);
        Times& times = times_of(generated);
        const std::pair key{selected_.program.get(), selected_.kernel};
        if (!edited_.contains(key)) times.generated = times.median();
        time_first_run(std::max(kMostSeconds, kMostSlower * times.median().per_frame * 1e-3));
        times.forget();
        edited_[key] = text;
        spirv_.clear();
        said_ = "applied: it runs from the next call on";
    } catch (const std::exception& error) {
        errors_ = lines_of(error);
    }
}

/// Reverts an edited kernel whose first run takes too long, as soon as that run has ended.
void Inspector::time_first_run(double most_seconds) {
    executor_->time_next_run(
        selected_.program, [this, most_seconds, edited = selected_](double seconds) {
            said_ = "applied: it runs";
            if (seconds <= most_seconds) return;
            give_back(edited);
            char text[160];
            std::snprintf(
                text, sizeof text,
                "its first call took %.1f s, above the maximum of %.1f s: the generated kernel is "
                "back",
                seconds, most_seconds);
            said_ = text;
        });
}

void Inspector::give_back(const Selected& edited) {
    const KernelInfo& generated = edited.program->kernels[edited.kernel];
    executor_->replace_kernel(edited.program, edited.kernel, generated);
    edited_.erase({edited.program.get(), edited.kernel});
    times_[{edited.number, generated.name}].forget();
}

void Inspector::draw_edited(const KernelInfo& kernel) {
    ImGui::SameLine();
    if (ImGui::Button("revert to the generated kernel")) {
        give_back(selected_);
        choose_kernel(selected_.kernel);
    }
    note("inspector return");
    const auto words = [](const Timing& time) {
        if (time.samples == 0) return std::string("not timed yet");
        char text[64];
        std::snprintf(text, sizeof text, "%.4f ms (median of %zu)", time.milliseconds,
                      time.samples);
        return std::string(text);
    };
    ImGui::TextColored(loud_text(), "yours %s, generated %s",
                       words(times_of(kernel).median()).c_str(),
                       words(times_of(kernel).generated).c_str());
    if (const int64_t most = executor_->profile().max_back_edges; most > 0)
        ImGui::TextColored(dim_text(), "this driver ends an invocation after %lld loop iterations",
                           static_cast<long long>(most));
}

/// Draws the button, and the message below it.
float Inspector::height_below_editor() const {
    const bool edited = edited_.contains({selected_.program.get(), selected_.kernel});
    const size_t lines = (edited ? 2 : 0) + (said_.empty() ? 0 : 1) + 2 * errors_.size();
    return ImGui::GetFrameHeightWithSpacing() +
           static_cast<float>(lines) * ImGui::GetTextLineHeightWithSpacing();
}

void Inspector::draw_glsl(float height) {
    const KernelInfo& kernel = selected_.program->kernels[selected_.kernel];
    const bool can_edit = tools_.compile && !kernel.artefact.text.empty();
    ImGui::PushFont(code_font());
    const float numbers = ImGui::CalcTextSize("0000 ").x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + numbers);
    ImGui::InputTextMultiline(
        "##glsl", text_.data(), text_.size(),
        {-1, std::max(height - height_below_editor(), kLeastLines * ImGui::GetTextLineHeight())},
        can_edit ? ImGuiInputTextFlags_AllowTabInput : ImGuiInputTextFlags_ReadOnly);
    draw_line_numbers(text_.data(), numbers);
    ImGui::PopFont();
    note("inspector glsl");
    if (can_edit && ImGui::Button("apply")) swap_in();
    if (can_edit) note("inspector swap");
    if (edited_.contains({selected_.program.get(), selected_.kernel})) draw_edited(kernel);
    if (!said_.empty()) ImGui::TextWrapped("%s", said_.c_str());
    for (const std::string& error : errors_) {
        ImGui::TextColored(loud_text(), "line %s", error.c_str());
        const std::string line = line_of(text_.data(), std::atoi(error.c_str()));
        if (line.empty()) continue;
        ImGui::PushFont(code_font());
        ImGui::TextColored(dim_text(), "    %s", line.c_str());
        ImGui::PopFont();
    }
}

}  // namespace firn
