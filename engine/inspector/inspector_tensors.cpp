// The inspector's tab of tensors.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "engine/inspector/inspector.h"
#include "engine/window/heat_map.h"
#include "engine/window/number_text.h"
#include "engine/window/panel_theme.h"
#include "engine/window/plot.h"

namespace firn {
namespace {

/// Frames between two reads of a tensor: reading all of a large one takes device time.
constexpr int kFramesBetweenReads = 15;
constexpr float kCellsHeight = 180;  // pixels at scale 1
constexpr size_t kTensorRows = 8;    // tensors seen at once

}  // namespace

/// A tensor of a call.
struct Inspector::CallTensor {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    std::shared_ptr<Memory> memory = nullptr;  // null: a temporary that was not inspected
    std::span<const std::byte> constant = {};  // of a constant: its value; null: no constant
    int temporary = -1;                        // of a temporary: its buffer; -1: no temporary
    std::string label() const;                 // its name, type and shape
};

namespace {

using CallTensor = Inspector::CallTensor;

int64_t elements_of(const CallTensor& tensor) {
    int64_t count = 1;
    for (int64_t size : tensor.shape) count *= size;
    return count;
}

/// Returns "argument 2 speed", or "argument 2" if it has no name of its own.
std::string numbered(const std::string& kind, size_t number, const std::string& name) {
    const std::string plain = kind + " " + std::to_string(number);
    return name.empty() || name == plain ? plain : plain + " " + name;
}

std::string shape_words(const CallTensor& tensor) {
    std::string text;
    for (int64_t size : tensor.shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return std::string(tensor.dtype.name()) + "[" + text + "]";
}

/// Returns the buffers that a kernel or a copy of the program touches.
std::set<int> used_buffers(const std::vector<Step>& steps) {
    std::set<int> out;
    for (const Step& step : steps) {
        if (const auto* dispatch = std::get_if<DispatchStep>(&step.step))
            out.insert(dispatch->buffers.begin(), dispatch->buffers.end());
        if (const auto* copy = std::get_if<CopyStep>(&step.step))
            out.insert({copy->source, copy->target});
        if (const auto* call = std::get_if<CallStep>(&step.step))
            out.insert({call->input, call->output});
        if (const auto* repeat = std::get_if<RepeatStep>(&step.step))
            out.merge(used_buffers(repeat->body));
    }
    return out;
}

/// Returns false if only the device knows a size.
bool take_shape(CallTensor& tensor, const Shape& shape, const SizeEnv& symbols) {
    try {
        for (const Size& size : shape) tensor.shape.push_back(size.evaluate(symbols));
    } catch (const UserError&) {
        return false;
    }
    return true;
}

/// Adds temporaries and constants, named by the lines that made them.
void add_own(const WatchedCall& watched, std::vector<CallTensor>& out) {
    const Program& program = *watched.program;
    for (int buffer : used_buffers(program.steps)) {
        const BufferInfo& info = program.buffers[static_cast<size_t>(buffer)];
        CallTensor tensor{info.name, info.dtype, {}};
        if (info.role == BufferRole::Temporary) {
            tensor.name = numbered("temporary", static_cast<size_t>(buffer), info.name);
            tensor.memory = watched.temporary;
            tensor.temporary = buffer;
        } else if (info.role == BufferRole::Constant) {
            tensor.name = numbered("constant", static_cast<size_t>(buffer), info.name);
            tensor.constant = info.data;
        } else {
            continue;
        }
        const int64_t elements = info.elements.evaluate(watched.call.symbols);
        take_shape(tensor, info.shape, watched.call.symbols);
        if (elements_of(tensor) != elements) tensor.shape = {elements};
        out.push_back(std::move(tensor));
    }
}

/// Tensors that the caller holds come first.
std::vector<CallTensor> tensors_of(const WatchedCall& watched) {
    std::vector<CallTensor> out;
    const Program& program = *watched.program;
    const auto add = [&](const std::string& name, DType dtype, const Shape& shape,
                         const std::shared_ptr<Memory>& memory) {
        CallTensor tensor{name, dtype, {}, memory};
        if (memory && take_shape(tensor, shape, watched.call.symbols))
            out.push_back(std::move(tensor));
    };
    for (size_t k = 0; k < program.results.size(); ++k)
        add("result " + std::to_string(k), program.results[k].dtype, program.results[k].shape,
            watched.call.results[k]);
    for (size_t k = 0; k < program.arguments.size(); ++k)
        if (!program.arguments[k].scalar)
            add(numbered("argument", k, program.arguments[k].name), program.arguments[k].dtype,
                program.arguments[k].shape, watched.call.arguments[k]);
    add_own(watched, out);
    return out;
}

HeatMap cells_of(const TensorSummary& summary) {
    HeatMap map;
    map.rows = summary.rows, map.columns = summary.columns;
    map.all_rows = summary.all_rows, map.all_columns = summary.all_columns;
    map.values = summary.cells;
    map.options.range = {static_cast<float>(summary.smallest), static_cast<float>(summary.largest)};
    return map;
}

Plot plot_of(const std::vector<float>& values, PlotKind kind, double first, double step) {
    Plot plot;
    plot.kind = kind;
    plot.series = {{"", values, {}}};
    plot.options.x_first = first, plot.options.x_step = step;
    return plot;
}

/// Draws a whole number that can be typed, or changed by its buttons.
bool draw_index(const char* label, int64_t& value, int64_t step, float scale) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(dim_text(), "%s", label);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(120 * scale);
    return ImGui::InputScalar(("##" + std::string(label)).c_str(), ImGuiDataType_S64, &value,
                              &step);
}

}  // namespace

std::string CallTensor::label() const { return name + "  " + shape_words(*this); }

/// Draws the chooser of the row of the tensor, or of the part of it, that is shown.
void Inspector::draw_line(float scale) {
    const TensorSummary& s = summary_;
    LinePick pick = s.pick;
    bool picked = false;
    if (s.line_rows > 1) {
        picked |= draw_index("row", pick.row, 1, scale);
        note("inspector row");
    }
    if (s.line_elements > TensorSummary::kLine) {
        if (s.line_rows > 1) ImGui::SameLine();
        picked |= draw_index("from element", pick.first, TensorSummary::kLine, scale);
        note("inspector element");
    }
    if (picked) {
        pick_ = pick;
        summary_age_ = kFramesBetweenReads;  // the next look reads it
    }
    const auto count = static_cast<int64_t>(s.line.size());
    ImGui::TextColored(dim_text(), "row %lld of %lld, elements %lld to %lld of %lld",
                       static_cast<long long>(s.pick.row), static_cast<long long>(s.line_rows),
                       static_cast<long long>(s.pick.first),
                       static_cast<long long>(s.pick.first + count - 1),
                       static_cast<long long>(s.line_elements));
    firn::draw_plot("##line",
                    plot_of(s.line, PlotKind::Lines, static_cast<double>(s.pick.first), 1),
                    ImGui::GetContentRegionAvail().x, scale);
    std::string numbers;
    for (size_t k = 0; k < std::min<size_t>(s.line.size(), 16); ++k)
        numbers += number_text(static_cast<double>(s.line[k]), 5) + "  ";
    ImGui::TextWrapped("%s", numbers.c_str());
}

void Inspector::draw_summary(float scale) {
    const TensorSummary& s = summary_;
    if (s.elements == 0) return ImGui::TextColored(dim_text(), "this tensor has no elements");
    ImGui::Text("from %.6g to %.6g, mean %.6g", s.smallest, s.largest, s.mean);
    if (s.nans + s.infinities > 0)
        ImGui::TextColored(loud_text(), "%lld nan, %lld inf", static_cast<long long>(s.nans),
                           static_cast<long long>(s.infinities));
    else
        ImGui::TextColored(dim_text(), "no nan, no inf");
    const float width = ImGui::GetContentRegionAvail().x;
    draw_heat_map("##cells", cells_of(s), width, kCellsHeight * scale);
    ImGui::TextColored(dim_text(), "histogram");
    Plot histogram = plot_of(s.histogram, PlotKind::Bars, s.first_bin(), s.bin_width());
    histogram.options.unit = "elements";
    firn::draw_plot("##histogram", histogram, width, scale);
    note("inspector histogram");
    draw_line(scale);
}

void Inspector::draw_tensors(const WatchedCall& call, float scale) {
    const std::vector<CallTensor> tensors = tensors_of(call);
    if (tensors.empty())
        return ImGui::TextColored(dim_text(), "this program has no tensors in memory");
    tensor_ = std::min(tensor_, tensors.size() - 1);
    draw_search("inspector search tensors", tensor_search_);
    const ImGuiTextFilter search(tensor_search_.data());
    const float row = ImGui::GetTextLineHeightWithSpacing();
    const float rows = static_cast<float>(std::min(tensors.size(), kTensorRows));
    ImGui::BeginChild("##tensors",
                      {-1, row * (rows + 0.5f) + 2 * ImGui::GetStyle().WindowPadding.y}, true);
    for (size_t k = 0; k < tensors.size(); ++k) {
        if (!search.PassFilter(tensors[k].label().c_str())) continue;
        const std::string label = tensors[k].label() + "##" + std::to_string(k);
        if (ImGui::Selectable(label.c_str(), k == tensor_)) tensor_ = k;
        note(("inspector tensor " + std::to_string(k)).c_str());
    }
    ImGui::EndChild();
    draw_tensor(call, tensors[tensor_], scale);
}

void Inspector::draw_tensor(const WatchedCall& call, const CallTensor& shown, float scale) {
    if (shown.temporary >= 0) {
        observed_ = shown.temporary;
        ImGui::TextColored(
            dim_text(), "its contents after the call; it has memory of its own while it is shown");
        // The kept value may still be that of another temporary.
        const bool new_choice = observing_ != std::pair(call.number, shown.temporary);
        if (new_choice) observing_ = {call.number, shown.temporary}, observed_since_ = call.runs;
        if (!shown.memory || call.runs == observed_since_)
            return ImGui::TextColored(loud_text(),
                                      "the value arrives with the program's next call");
    }
    const std::string which = std::to_string(call.number) + shown.name + shape_words(shown);
    look_at(shown, which);
    if (tools_.write_array && ImGui::Button("save .npy")) save(shown);
    if (tools_.write_array) note("inspector save");
    if (!said_.empty()) ImGui::TextColored(loud_text(), "%s", said_.c_str());
    if (which != summarised_)
        ImGui::TextColored(dim_text(), "reading ...");
    else
        draw_summary(scale);
}

/// Saves the elements, as they are now, once they have arrived.
void Inspector::read(const CallTensor& shown, Callback<void(std::span<const std::byte>)> take) {
    if (!shown.memory) return take(shown.constant);
    try {
        reads_.ask_bytes({{shown.memory, 0, shown.dtype, shown.shape}},
                         [take](const LateReads::Bytes& bytes) { take(bytes[0]); });
    } catch (const std::exception& error) {
        said_ = error.what();  // such as running out of memory
    }
}

void Inspector::look_at(const CallTensor& shown, const std::string& which) {
    const bool same = which == asked_;
    if (same && (is_reading() || ++summary_age_ < kFramesBetweenReads)) return;
    if (!same) {
        summarised_.clear();
        pick_ = {};
    }
    asked_ = which;
    summary_age_ = 0;
    read(shown, [this, which, dtype = shown.dtype, shape = shown.shape](auto bytes) {
        if (which != asked_) return;  // the person has chosen another tensor meanwhile
        summary_ = summarise(dtype, shape, bytes, pick_);
        summarised_ = which;
    });
}

void Inspector::save(const CallTensor& shown) {
    std::string name = shown.name;  // a tensor with a line of the user's
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == ':'; }, '-');
    std::string path = title_ + "-" + name + ".npy";
    std::replace(path.begin(), path.end(), ' ', '-');
    said_.clear();
    read(shown, [this, path, dtype = shown.dtype, shape = shown.shape](auto bytes) {
        try {
            tools_.write_array(path, dtype, shape, {bytes.begin(), bytes.end()});
            said_ = "saved " + path;
        } catch (const UserError& error) {
            said_ = error.what();
        }
    });
}

}  // namespace firn
