// The inspector's window: its list of programs, and its tab of kernels.
#include "engine/inspector/inspector.h"

#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include "engine/window/panel_theme.h"

namespace firn {
namespace {

constexpr float kWidth = 620, kHeight = 820;  // pixels at scale 1
/// The least height of the code, in lines; if the window has less room, its page scrolls.
constexpr float kCodeLines = 12;
/// About the height of a kernel's facts with the plot of its times, in lines.
constexpr float kFactLines = 20;
/// Samples of a time whose median is shown: about seven seconds.
constexpr size_t kSamples = 15;
/// Room that the editor's text may grow by before it is measured again.
constexpr size_t kRoom = 1 << 16;
constexpr size_t kRows = 8;  // kernels seen at once

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
    return out;
}

/// Writes a number with a prefix of the unit that leaves one to three digits before the point.
std::string scaled_text(double value, const char* unit) {
    const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t k = 0;
    while (value >= 1000 && k + 1 < std::size(prefixes)) value /= 1000, ++k;
    char text[48];
    std::snprintf(text, sizeof text, "%.3g %s%s", value, prefixes[k], unit);
    return text;
}

const char* form_text(BindingForm form) {
    switch (form) {
        case BindingForm::Storage: return "buffer";
        case BindingForm::View: return "texels";
        case BindingForm::Address: return "address";
    }
    return "";
}

std::string bindings_text(const KernelInfo& kernel) {
    std::vector<std::string> words;
    for (const BindingInfo& binding : kernel.bindings)
        words.push_back(std::string(binding.dtype.name()) +
                        (binding.width > 1 ? "x" + std::to_string(binding.width) : "") + " " +
                        form_text(binding.form) + (binding.written ? " written" : ""));
    return joined(words, ", ");
}

/// Programs that run repeatedly come before those that ran once at the start.
std::pair<bool, size_t> to_see_in(const WatchedCall& call) {
    return {call.runs > 1, call.program->kernels.size()};
}

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void keep(std::vector<double>& samples, double value) {
    if (samples.size() == kSamples) samples.erase(samples.begin());
    samples.push_back(value);
}

void fact(const char* name, const std::string& value) {
    if (value.empty()) return;
    ImGui::TextColored(dim_text(), "%s", name);
    ImGui::SameLine(ImGui::GetFontSize() * 6);
    ImGui::TextWrapped("%s", value.c_str());
}

}  // namespace

Inspector::Inspector(std::shared_ptr<VulkanExecutor> executor, const InspectorTools& tools,
                     const std::string& title)
    : executor_(std::move(executor)),
      tools_(tools),
      title_(title),
      traces_(tools.trace),
      reads_(executor_->shared_device()) {
    memory_.options.unit = "MB";
    executor_->set_watching(true);
}

Inspector::~Inspector() {
    executor_->set_watching(false);
    executor_->time_next_run(nullptr, {});
    try {
        reads_.finish();  // a tensor that is to be saved is saved
    } catch (const std::exception&) {
        // The device reports the error at its next use.
    }
}

void Inspector::add_times(const std::vector<KernelTime>& times, int frames) {
    for (const KernelTime& time : times) {
        Times& known = times_[{time.program, time.name}];
        keep(known.milliseconds, time.milliseconds);
        keep(known.per_frame, time.milliseconds * time.dispatches / std::max(frames, 1));
        known.history.options.unit = "ms";
        append(known.history, "", static_cast<float>(time.milliseconds));
    }
}

std::vector<float> Inspector::history(int64_t program, const std::string& kernel) const {
    const auto at = times_.find({program, kernel});
    if (at == times_.end() || at->second.history.series.empty()) return {};
    return at->second.history.series[0].values;
}

Inspector::Timing Inspector::timing(int64_t program, const std::string& kernel) const {
    const auto at = times_.find({program, kernel});
    return at == times_.end() ? Timing{} : at->second.median();
}

Inspector::Timing Inspector::Times::median() const {
    return {median_of(milliseconds), median_of(per_frame), milliseconds.size()};
}

void Inspector::Times::forget() {
    history.series.clear();
    milliseconds.clear();
    per_frame.clear();
}

bool Inspector::draw_search(const char* place, std::array<char, 64>& text) {
    ImGui::SetNextItemWidth(-1);
    const std::string label = "##" + std::string(place);
    const bool changed =
        ImGui::InputTextWithHint(label.c_str(), "search", text.data(), text.size());
    note(place);
    return changed;
}

void Inspector::note(const char* name) {
    const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
    places_->push_back({name, {from.x, from.y, to.x - from.x, to.y - from.y}});
}

const WatchedCall* Inspector::selected_call(const std::vector<WatchedCall>& calls) const {
    for (const WatchedCall& call : calls)
        if (call.program == selected_.program) return &call;
    return nullptr;
}

void Inspector::choose_kernel(size_t kernel) {
    selected_.kernel = kernel;
    const auto changed = edited_.find({selected_.program.get(), kernel});
    const std::string& text = changed != edited_.end()
                                  ? changed->second
                                  : selected_.program->kernels.at(kernel).artefact.text;
    text_.assign(text.begin(), text.end());
    text_.resize(text.size() + kRoom);
    errors_.clear();
    spirv_.clear();
    said_.clear();
}

void Inspector::choose_program(const std::vector<WatchedCall>& calls) {
    if (ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows) && ImGui::IsMouseClicked(0))
        looked_at_ = true;
    const bool ended = !selected_call(calls);
    if (ended || !looked_at_) {  // the program with most to show, until the person clicks
        const auto most = std::max_element(
            calls.begin(), calls.end(),
            [](const WatchedCall& a, const WatchedCall& b) { return to_see_in(a) < to_see_in(b); });
        if (ended || to_see_in(*most) > to_see_in(*selected_call(calls))) {
            selected_ = {most->program, most->number};
            if (!selected_.program->kernels.empty()) choose_kernel(0);
        }
    }
    ImGui::SetNextItemWidth(-1);
    if (!ImGui::BeginCombo("##program", selected_.program->name.c_str())) return;
    for (const WatchedCall& call : calls) {
        const std::string label =
            call.program->name + ", " + std::to_string(call.program->kernels.size()) +
            " kernels, " + std::to_string(call.runs) + " calls##" + std::to_string(call.number);
        if (!ImGui::Selectable(label.c_str(), call.program == selected_.program)) continue;
        selected_ = {call.program, call.number};
        tensor_ = 0;
        if (!call.program->kernels.empty()) choose_kernel(0);
    }
    ImGui::EndCombo();
}

/// Counting walks through all steps of a call, so it is not done in every frame.
const KernelWork* Inspector::counts_of(const WatchedCall& call) {
    if (!tools_.count) return nullptr;
    if (counted_.first != call.program.get() || counted_.second != call.call.symbols) {
        counted_ = {call.program.get(), call.call.symbols};
        counts_ = tools_.count(*call.program, call.call.symbols);
    }
    return selected_.kernel < counts_.size() ? &counts_[selected_.kernel] : nullptr;
}

void Inspector::draw_facts(const WatchedCall& call, float scale) {
    const KernelInfo& kernel = selected_.program->kernels[selected_.kernel];
    fact("lines", joined(kernel.lines, ", "));
    fact("mapping", kernel.mapping + (kernel.tuned ? ", found by tuning" : ""));
    fact("group", std::to_string(kernel.group_size[0]) + " x " +
                      std::to_string(kernel.group_size[1]) + " x " +
                      std::to_string(kernel.group_size[2]) + ", " +
                      std::to_string(kernel.shared_bytes) + " bytes shared");
    fact("binds", bindings_text(kernel));
    const Timing time = times_of(kernel).median();
    if (time.samples > 0) {
        char text[96];
        std::snprintf(text, sizeof text, "%.4f ms per dispatch, the median of %zu sample%s",
                      time.milliseconds, time.samples, time.samples == 1 ? "" : "s");
        fact("time", text);
    }
    if (const KernelWork* known = counts_of(call)) {
        const KernelWork& counts = *known;
        fact("ranges", counts.ranges);
        fact("counted", scaled_text(static_cast<double>(counts.operations), "op") + ", reads " +
                            scaled_text(static_cast<double>(counts.bytes_read), "B") + ", writes " +
                            scaled_text(static_cast<double>(counts.bytes_written), "B") + " in " +
                            std::to_string(counts.dispatches) + " dispatches per call");
        const double measured = time.milliseconds * static_cast<double>(counts.dispatches);
        char text[96];
        std::snprintf(text, sizeof text, "%.3f ms by the device's rates, %.0f %% of them achieved",
                      counts.least_milliseconds,
                      measured > 0 ? 100 * counts.least_milliseconds / measured : 0.0);
        fact("share", text);
    }
    if (const Plot& history = times_of(kernel).history; !history.series.empty())
        firn::draw_plot("##history", history, ImGui::GetContentRegionAvail().x, scale);
}

void Inspector::draw_code() {
    if (!ImGui::BeginTabBar("code")) return;
    const float least = kCodeLines * ImGui::GetTextLineHeight();
    const auto tab = [&](const char* name, const char* place, const auto& contents) {
        const bool shown = ImGui::BeginTabItem(name);
        note(place);
        if (!shown) return;
        contents(std::max(ImGui::GetContentRegionAvail().y, least));
        ImGui::EndTabItem();
    };
    tab("GLSL", "inspector source", [&](float height) { draw_glsl(height); });
    if (tools_.trace)
        tab("kernel code", "inspector code", [&](float height) { draw_kernel_passes(height); });
    if (tools_.disassemble)
        tab("SPIR-V", "inspector spirv", [&](float height) {
            const KernelInfo& kernel = selected_.program->kernels[selected_.kernel];
            if (spirv_.empty()) spirv_ = tools_.disassemble(kernel.artefact.words);
            ImGui::BeginChild("##text", {-1, height}, true, ImGuiWindowFlags_HorizontalScrollbar);
            ImGui::PushFont(code_font());
            ImGui::TextUnformatted(spirv_.data(), spirv_.data() + spirv_.size());
            ImGui::PopFont();
            ImGui::EndChild();
        });
    ImGui::EndTabBar();
}

void Inspector::draw_kernels(const WatchedCall& call, float scale) {
    const std::vector<KernelInfo>& kernels = selected_.program->kernels;
    if (kernels.empty()) return ImGui::TextColored(dim_text(), "this program has no kernels");
    const auto flags =
        ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY;
    if (kernels.size() > kRows) draw_search("inspector search kernels", kernel_search_);
    const ImGuiTextFilter search(kernel_search_.data());
    const float row = ImGui::GetTextLineHeightWithSpacing() + 2 * scale;
    const float height = row * static_cast<float>(std::min(kernels.size(), kRows)) + 2 * scale;
    if (ImGui::BeginTable("kernels", 3, flags, {0, height})) {
        ImGui::TableSetupColumn("kernel", 0, 3);
        ImGui::TableSetupColumn("lines", 0, 4);
        ImGui::TableSetupColumn("time", ImGuiTableColumnFlags_WidthFixed,
                                ImGui::CalcTextSize("1000.000 ms per frame").x);
        for (size_t k = 0; k < kernels.size(); ++k) {
            const std::string lines = joined(kernels[k].lines, ", ");
            if (!search.PassFilter((kernels[k].name + " " + lines).c_str())) continue;
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            const std::string label = kernels[k].name + "##" + std::to_string(k);
            if (ImGui::Selectable(label.c_str(), k == selected_.kernel,
                                  ImGuiSelectableFlags_SpanAllColumns))
                choose_kernel(k);
            note(("inspector kernel " + std::to_string(k)).c_str());
            ImGui::TableNextColumn();
            const bool edited = edited_.contains({selected_.program.get(), k});
            ImGui::TextColored(edited ? loud_text() : dim_text(), "%s",
                               edited ? "edited" : lines.c_str());
            ImGui::TableNextColumn();
            const Timing time = timing(selected_.number, kernels[k].name);
            if (time.samples > 0) ImGui::Text("%.3f ms per frame", time.per_frame);
            if (time.samples > 0 && ImGui::IsItemHovered())
                ImGui::SetTooltip("the median of %zu sample%s", time.samples,
                                  time.samples == 1 ? "" : "s");
        }
        ImGui::EndTable();
    }
    // The table starts folded if the code would have no room below it.
    const bool has_place =
        ImGui::GetContentRegionAvail().y > (kFactLines + kCodeLines) * ImGui::GetTextLineHeight();
    ImGui::SetNextItemOpen(has_place, ImGuiCond_Once);
    const bool facts = ImGui::CollapsingHeader("facts");
    note("inspector facts");
    if (facts) draw_facts(call, scale);
    draw_code();
}

std::vector<std::string> Inspector::take_said() {
    std::vector<std::string> out;
    if (said_ != told_ && !said_.empty()) out.push_back(said_);
    if (errors_ != told_errors_) out.insert(out.end(), errors_.begin(), errors_.end());
    told_ = said_, told_errors_ = errors_;
    return out;
}

bool Inspector::draw(float scale, std::vector<PanelPart>& places) {
    places_ = &places;
    reads_.hand_on();
    append(memory_, "",
           static_cast<float>(static_cast<double>(executor_->device().memory().use().used) * 1e-6));
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    const float margin = kPanelPadding * scale;
    ImGui::SetNextWindowSize({std::min(kWidth * scale, window.x - 2 * margin),
                              std::min(kHeight * scale, window.y - 2 * margin)},
                             ImGuiCond_FirstUseEver);
    ImGui::SetNextWindowPos({window.x - margin, margin}, ImGuiCond_FirstUseEver, {1, 0});
    bool open = true;
    ImGui::SetNextWindowBgAlpha(0.97f);  // nearly opaque, to be read in front of a moving picture
    ImGui::Begin("inspector", &open, ImGuiWindowFlags_NoSavedSettings);
    const std::vector<WatchedCall> calls = executor_->watched();
    if (calls.empty()) {
        selected_.program = nullptr;
        ImGui::TextColored(dim_text(), "no program has run since the inspector was opened");
    } else {
        choose_program(calls);
    }
    const WatchedCall* call = selected_call(calls);
    const int observed = std::exchange(observed_, -1);
    if (call && ImGui::BeginTabBar("tabs")) {
        const auto tab = [&](const char* name, const char* place, const auto& contents) {
            const bool shown = ImGui::BeginTabItem(name);
            note(place);
            if (!shown) return;
            ImGui::BeginChild("##page");  // scrolls below the tabs, which stay
            contents();
            ImGui::EndChild();
            ImGui::EndTabItem();
        };
        tab("kernels", "inspector kernels", [&] { draw_kernels(*call, scale); });
        tab("tensors", "inspector tensors", [&] { draw_tensors(*call, scale); });
        tab("schedule", "inspector schedule", [&] { draw_schedule(scale); });
        if (tools_.trace) tab("graph", "inspector graph", [&] { draw_graph(-1); });
        tab("memory", "inspector memory", [&] { draw_memory(scale); });
        ImGui::EndTabBar();
    }
    if (observed_ < 0) observing_ = {0, -1};
    if (observed_ >= 0 || observed >= 0)
        executor_->watch_temporary(observed_ < 0 ? nullptr : selected_.program, observed_);
    ImGui::End();
    return open;
}

}  // namespace firn
