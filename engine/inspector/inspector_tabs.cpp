// The inspector's tabs of tensors, schedule and memory.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/inspector/inspector.h"
#include "engine/window/panel_theme.h"

namespace firn {
namespace {

/// Frames between two looks at a tensor: reading waits for the device.
constexpr int kFramesBetweenReads = 15;
constexpr float kCellsHeight = 180;  // pixels at scale 1

/// A tensor of a call.
struct CallTensor {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    const Memory* memory = nullptr;
};

std::string shape_words(const CallTensor& tensor) {
    std::string text;
    for (int64_t size : tensor.shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return std::string(tensor.dtype.name()) + "[" + text + "]";
}

std::vector<CallTensor> tensors_of(const WatchedCall& watched) {
    std::vector<CallTensor> out;
    const Program& program = *watched.program;
    const auto add = [&](const std::string& name, DType dtype, const Shape& shape,
                         const std::shared_ptr<Memory>& memory) {
        if (!memory) return;
        CallTensor tensor{name, dtype, {}, memory.get()};
        try {
            for (const Size& size : shape)
                tensor.shape.push_back(size.evaluate(watched.call.symbols));
        } catch (const UserError&) {
            return;  // a size that only the device knows
        }
        out.push_back(std::move(tensor));
    };
    for (size_t k = 0; k < program.results.size(); ++k)
        add("result " + std::to_string(k), program.results[k].dtype, program.results[k].shape,
            watched.call.results[k]);
    for (size_t k = 0; k < program.arguments.size(); ++k)
        if (!program.arguments[k].scalar)
            add("argument " + std::to_string(k) + " " + program.arguments[k].name,
                program.arguments[k].dtype, program.arguments[k].shape, watched.call.arguments[k]);
    return out;
}

/// Matplotlib's viridis at five places; nan is magenta, as in frames.
ImU32 cell_colour(float value, const TensorSummary& summary) {
    if (!std::isfinite(value)) return IM_COL32(230, 0, 230, 255);
    static constexpr float kMap[5][3] = {
        {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
    const double range = summary.largest - summary.smallest;
    const double part = range > 0 ? (static_cast<double>(value) - summary.smallest) / range : 0.5;
    const auto at = static_cast<float>(std::clamp(part, 0.0, 1.0) * 4);
    const int k = std::min(static_cast<int>(at), 3);
    const float share = at - static_cast<float>(k);
    const auto mix = [&](int c) {
        return static_cast<int>(kMap[k][c] + share * (kMap[k + 1][c] - kMap[k][c]));
    };
    return IM_COL32(mix(0), mix(1), mix(2), 255);
}

void draw_cells(const TensorSummary& summary, float scale) {
    const float side =
        std::min(kCellsHeight * scale / static_cast<float>(summary.rows),
                 ImGui::GetContentRegionAvail().x / static_cast<float>(summary.columns));
    const ImVec2 from = ImGui::GetCursorScreenPos();
    ImGui::Dummy(
        {side * static_cast<float>(summary.columns), side * static_cast<float>(summary.rows)});
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (int i = 0; i < summary.rows; ++i)
        for (int j = 0; j < summary.columns; ++j) {
            const ImVec2 corner{from.x + side * static_cast<float>(j),
                                from.y + side * static_cast<float>(i)};
            const auto k = static_cast<size_t>(i * summary.columns + j);
            draw.AddRectFilled(corner, {corner.x + side, corner.y + side},
                               cell_colour(summary.cells[k], summary));
        }
}

Plot plot_of(const std::vector<float>& values, bool bars) {
    Plot plot;
    plot.bars = bars;
    plot.series = {{"", values}};
    return plot;
}

}  // namespace

void Inspector::draw_summary(float scale) {
    const TensorSummary& s = summary_;
    if (s.elements == 0) return ImGui::TextColored(dim_text(), "it has no elements");
    ImGui::Text("from %.6g to %.6g, mean %.6g", s.smallest, s.largest, s.mean);
    if (s.nans + s.infinities > 0)
        ImGui::TextColored(loud_text(), "%lld nan, %lld inf", static_cast<long long>(s.nans),
                           static_cast<long long>(s.infinities));
    else
        ImGui::TextColored(dim_text(), "no nan, no inf");
    const float width = ImGui::GetContentRegionAvail().x;
    draw_cells(s, scale);
    ImGui::TextColored(dim_text(), "how often which value is met");
    firn::draw_plot("##histogram", plot_of(s.histogram, true), width, scale);
    ImGui::TextColored(dim_text(), "the first row");
    firn::draw_plot("##line", plot_of(s.line, false), width, scale);
    std::string numbers;
    for (size_t k = 0; k < std::min<size_t>(s.line.size(), 16); ++k) {
        char text[32];
        std::snprintf(text, sizeof text, "%.5g  ", static_cast<double>(s.line[k]));
        numbers += text;
    }
    ImGui::TextWrapped("%s", numbers.c_str());
}

void Inspector::draw_tensors(const WatchedCall& call, float scale) {
    const std::vector<CallTensor> tensors = tensors_of(call);
    if (tensors.empty())
        return ImGui::TextColored(dim_text(), "it has no tensors in memory of their own");
    tensor_ = std::min(tensor_, tensors.size() - 1);
    for (size_t k = 0; k < tensors.size(); ++k) {
        const std::string label = tensors[k].name + "  " + shape_words(tensors[k]);
        if (ImGui::Selectable(label.c_str(), k == tensor_)) tensor_ = k;
        note(("inspector tensor " + std::to_string(k)).c_str());
    }
    ImGui::Separator();
    const CallTensor& shown = tensors[tensor_];
    const std::string which = std::to_string(call.number) + shown.name + shape_words(shown);
    const auto read = [&] {
        int64_t count = 1;
        for (int64_t size : shown.shape) count *= size;
        std::vector<std::byte> bytes(static_cast<size_t>(count * shown.dtype.bytes()));
        if (!bytes.empty()) executor_->read(*shown.memory, 0, bytes);
        return bytes;
    };
    if (which != summarised_ || ++summary_age_ >= kFramesBetweenReads) {
        summary_ = summarise(shown.dtype, shown.shape, read());
        summarised_ = which;
        summary_age_ = 0;
    }
    if (tools_.write_array && ImGui::Button("save .npy")) {
        std::string path = title_ + "-" + shown.name + ".npy";
        std::replace(path.begin(), path.end(), ' ', '-');
        try {
            tools_.write_array(path, shown.dtype, shown.shape, read());
            said_ = "wrote " + path;
        } catch (const UserError& error) {
            said_ = error.what();
        }
    }
    if (tools_.write_array) note("inspector save");
    if (!said_.empty()) ImGui::TextColored(loud_text(), "%s", said_.c_str());
    draw_summary(scale);
}

void Inspector::draw_schedule() const {
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

void Inspector::draw_memory(float scale) {
    const MemoryUse use = executor_->device().memory().use();
    ImGui::Text("%.2f MB in buffers, %.2f MB held, %.0f MB free on the device",
                static_cast<double>(use.used) * 1e-6, static_cast<double>(use.held) * 1e-6,
                static_cast<double>(use.free) * 1e-6);
    firn::draw_plot("##memory", memory_, ImGui::GetContentRegionAvail().x, scale);
}

}  // namespace firn
