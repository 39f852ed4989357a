// Shows the text after each pass, with the lines that it changed.
#include "engine/inspector/pass_view.h"

#include <imgui.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <sstream>

#include "engine/window/panel_theme.h"

namespace firn {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

/// Every pass numbers the nodes of a graph anew.
std::string without_numbers(const std::string& line) {
    std::string out;
    for (size_t k = 0; k < line.size(); ++k) {
        out += line[k];
        if (line[k] != '%') continue;
        while (k + 1 < line.size() && std::isdigit(static_cast<unsigned char>(line[k + 1]))) ++k;
    }
    return out;
}

std::string facts_of(const CompileTrace::Pass& pass) {
    char text[96];
    std::snprintf(text, sizeof text, "%zu to %zu nodes, %.3f ms", pass.nodes_before,
                  pass.nodes_after, pass.milliseconds);
    std::string out = pass.nodes_after > 0 ? text : "";
    for (const auto& [rule, count] : pass.fired)
        out += (out.empty() ? "" : ", ") + rule + " x " + std::to_string(count);
    return out;
}

}  // namespace

std::vector<bool> new_lines(const std::string& before, const std::string& after) {
    std::map<std::string, int> known;
    for (const std::string& line : lines_of(before)) ++known[without_numbers(line)];
    std::vector<bool> out;
    for (const std::string& line : lines_of(after)) {
        int& left = known[without_numbers(line)];
        out.push_back(left == 0);
        if (left > 0) --left;
    }
    return out;
}

void PassView::choose(const std::vector<CompileTrace::Pass>& passes, size_t pass) {
    pass_ = pass, picked_ = passes.at(pass).name;
    text_ = passes.at(pass).text;
    const std::vector<std::string> lines = lines_of(text_);
    const std::vector<bool> changed =
        pass > 0 ? new_lines(passes[pass - 1].text, text_) : std::vector<bool>(lines.size());
    lines_.clear();
    for (size_t k = 0; k < lines.size(); ++k) lines_.emplace_back(lines[k], changed[k]);
    unchanged_.assign(passes.size(), false);
    for (size_t k = 1; k < passes.size(); ++k) unchanged_[k] = passes[k].text == passes[k - 1].text;
}

void PassView::draw_list(const std::vector<CompileTrace::Pass>& passes,
                         const std::function<void(const char*)>& note) {
    for (size_t k = 0; k < passes.size(); ++k) {
        ImGui::PushStyleColor(ImGuiCol_Text,
                              unchanged_[k] ? dim_text() : ImGui::GetStyleColorVec4(ImGuiCol_Text));
        const std::string label = passes[k].name + "##" + std::to_string(k);
        if (ImGui::Selectable(label.c_str(), k == pass_)) choose(passes, k);
        ImGui::PopStyleColor();
        note(("inspector pass " + std::to_string(k)).c_str());
        if (unchanged_[k] && ImGui::IsItemHovered())
            ImGui::SetTooltip("this pass changed nothing here");
    }
}

void PassView::draw_text(const CompileTrace::Pass& pass) const {
    ImGui::TextColored(dim_text(), "%s", facts_of(pass).c_str());
    ImGui::PushFont(code_font());
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(lines_.size()));
    while (clipper.Step())
        for (int k = clipper.DisplayStart; k < clipper.DisplayEnd; ++k) {
            const auto& [line, is_new] = lines_[static_cast<size_t>(k)];
            ImGui::PushStyleColor(ImGuiCol_Text,
                                  is_new ? loud_text() : ImGui::GetStyleColorVec4(ImGuiCol_Text));
            ImGui::TextUnformatted(line.data(), line.data() + line.size());
            ImGui::PopStyleColor();
        }
    ImGui::PopFont();
}

void PassView::draw(const std::string& of, const std::vector<CompileTrace::Pass>& passes,
                    float height, const std::function<void(const char*)>& note) {
    if (passes.empty()) return ImGui::TextColored(dim_text(), "no pass ran");
    if (of != of_ || unchanged_.size() != passes.size()) {
        of_ = of;
        const auto same = std::find_if(passes.begin(), passes.end(),
                                       [&](const auto& each) { return each.name == picked_; });
        choose(passes, same == passes.end() ? 0 : static_cast<size_t>(same - passes.begin()));
    }
    ImGui::BeginChild("##passes", {ImGui::GetFontSize() * 11, height}, true);
    draw_list(passes, note);
    ImGui::EndChild();
    ImGui::SameLine();
    ImGui::BeginChild("##pass text", {-1, height}, true, ImGuiWindowFlags_HorizontalScrollbar);
    draw_text(passes[pass_]);
    ImGui::EndChild();
    note("inspector pass text");
}

}  // namespace firn
