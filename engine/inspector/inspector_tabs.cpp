// The inspector's tabs of passes, schedule and memory.
#include <imgui.h>

#include <algorithm>

#include "engine/inspector/inspector.h"
#include "engine/window/panel_theme.h"

namespace firn {
namespace {

/// Draws how many values are in memory, staged and inlined, and what the mouse does.
void draw_legend(const Program& program) {
    const auto count = [&](const char* verdict) {
        return static_cast<int>(
            std::count_if(program.verdicts.begin(), program.verdicts.end(),
                          [&](const VerdictInfo& each) { return each.verdict == verdict; }));
    };
    ImGui::Text("%d in memory (filled), %d staged (green), %d inlined (outlined)",
                count("materialised"), count("staged"), count("inlined"));
    ImGui::TextColored(dim_text(),
                       "wheel: zoom, drag: pan, double click: fit, click on a title: fold");
}

}  // namespace

const CompileTrace* Inspector::trace() {
    const CompileTrace* made = traces_.trace(selected_.program);
    if (!made)
        ImGui::TextColored(dim_text(), "%s",
                           traces_.refused().empty() ? "compiling it for inspection ..."
                                                     : traces_.refused().c_str());
    return made;
}

void Inspector::draw_graph(float height) {
    if (const CompileTrace* made = trace())
        graph_passes_.draw(std::to_string(selected_.number), made->graph, height,
                           [this](const char* name) { note(name); });
}

void Inspector::draw_kernel_passes(float height) {
    const CompileTrace* made = trace();
    if (!made) return;
    const std::string& name = selected_.program->kernels[selected_.kernel].name;
    for (const CompileTrace::Kernel& kernel : made->kernels)
        if (kernel.name == name)
            return kernel_passes_.draw(std::to_string(selected_.number) + name, kernel.passes,
                                       height, [this](const char* item) { note(item); });
    ImGui::TextColored(dim_text(),
                       "compiled for inspection, the program has no kernel of this name");
}

void Inspector::draw_verdicts() const {
    const auto flags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_RowBg;
    if (!ImGui::BeginTable("verdicts", 4, flags)) return;
    for (const char* name : {"value", "verdict", "because", "lines"}) ImGui::TableSetupColumn(name);
    ImGui::TableHeadersRow();
    for (const VerdictInfo& verdict : selected_.program->verdicts) {
        ImGui::TableNextRow();
        for (const std::string* text :
             {&verdict.value, &verdict.verdict, &verdict.reason, &verdict.lines}) {
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(text->c_str());
            if (!ImGui::IsItemHovered()) continue;
            ImGui::SetTooltip("inlined %.4g us, staged %.4g us, materialised %.4g us",
                              verdict.inline_seconds * 1e6, verdict.stage_seconds * 1e6,
                              verdict.materialise_seconds * 1e6);
        }
    }
    ImGui::EndTable();
}

void Inspector::draw_schedule(float scale) {
    const Program& program = *selected_.program;
    if (program.verdicts.empty())
        return ImGui::TextColored(dim_text(), "this program computes no values");
    if (!ImGui::BeginTabBar("schedules")) return;
    const auto tab = [&](const char* name, const char* place, const auto& contents) {
        const bool shown = ImGui::BeginTabItem(name);
        note(place);
        if (!shown) return;
        contents();
        ImGui::EndTabItem();
    };
    if (tools_.trace)
        tab("picture", "inspector picture", [&] {
            const CompileTrace* made = trace();
            if (!made) return;
            draw_legend(program);
            schedule_.draw(selected_.program, *made, scale,
                           [this](const char* name) { note(name); });
        });
    tab("table", "inspector table", [&] { draw_verdicts(); });
    ImGui::EndTabBar();
}

void Inspector::draw_memory(float scale) {
    const MemoryUse use = executor_->device().memory().use();
    ImGui::Text("%.2f MB in buffers, %.2f MB held, %.0f MB free on the device",
                static_cast<double>(use.used) * 1e-6, static_cast<double>(use.held) * 1e-6,
                static_cast<double>(use.free) * 1e-6);
    firn::draw_plot("##memory", memory_, ImGui::GetContentRegionAvail().x, scale);
}

}  // namespace firn
