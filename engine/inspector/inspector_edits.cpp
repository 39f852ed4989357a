// The inspector's editor: kernels that a person changes while they run.
#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include "engine/inspector/inspector.h"
#include "engine/window/panel_theme.h"

namespace firn {
namespace {

/// What a call may take with an edited kernel, at the most: who steers a picture waits no longer.
/// Where it was slow before, so much slower.
constexpr double kMostSeconds = 1, kMostSlower = 10;

/// Lines that say what is bound, and how large a group is.
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

/// What was thrown, a line each.
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
        if (declarations(text) != declarations(generated.glsl))
            throw UserError(
                "0: lines with layout(...) must not change, since the kernel's bindings are "
                "fixed");
        KernelInfo edited = generated;
        edited.glsl = text;
        edited.spirv = tools_.compile(text, generated.name);
        executor_->replace_kernel(selected_.program, selected_.kernel, edited);
        Times& times = times_of(generated);
        const std::pair key{selected_.program.get(), selected_.kernel};
        if (!edited_.contains(key)) times.generated = times.milliseconds;
        time_first_run(std::max(kMostSeconds, kMostSlower * times.per_frame * 1e-3));
        times.history.series.clear();
        edited_[key] = text;
        spirv_.clear();
        said_ = "applied: it runs from the next call on";
    } catch (const std::exception& error) {
        errors_ = lines_of(error);
    }
}

/// One that seems to have no end is given up as soon as it has one.
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
    times_[{edited.number, generated.name}].history.series.clear();
}

void Inspector::draw_edited(const KernelInfo& kernel) {
    ImGui::SameLine();
    if (ImGui::Button("revert to the generated kernel")) {
        give_back(selected_);
        choose_kernel(selected_.kernel);
    }
    note("inspector return");
    const Times& times = times_of(kernel);
    ImGui::TextColored(loud_text(), "yours %.4f ms, generated %.4f ms",
                       times.history.series.empty() ? 0.0 : times.milliseconds, times.generated);
    if (const int64_t most = executor_->profile().max_back_edges; most > 0)
        ImGui::TextColored(dim_text(), "this driver ends an invocation after %lld loop iterations",
                           static_cast<long long>(most));
}

void Inspector::draw_glsl(float height) {
    const KernelInfo& kernel = selected_.program->kernels[selected_.kernel];
    const bool can_edit = tools_.compile && !kernel.glsl.empty();
    ImGui::InputTextMultiline(
        "##glsl", text_.data(), text_.size(), {-1, height},
        can_edit ? ImGuiInputTextFlags_AllowTabInput : ImGuiInputTextFlags_ReadOnly);
    note("inspector glsl");
    if (can_edit && ImGui::Button("apply")) swap_in();
    if (can_edit) note("inspector swap");
    if (edited_.contains({selected_.program.get(), selected_.kernel})) draw_edited(kernel);
    if (!said_.empty()) ImGui::TextWrapped("%s", said_.c_str());
    for (const std::string& error : errors_) {
        ImGui::TextColored(loud_text(), "line %s", error.c_str());
        const std::string line = line_of(text_.data(), std::atoi(error.c_str()));
        if (!line.empty()) ImGui::TextColored(dim_text(), "    %s", line.c_str());
    }
}

}  // namespace firn
