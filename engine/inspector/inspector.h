// Programs, kernels, tensors, schedule and memory of a running program, as a window of Dear ImGui.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/inspector/inspector_tools.h"
#include "engine/inspector/pass_view.h"
#include "engine/inspector/schedule_view.h"
#include "engine/inspector/tensor_summary.h"
#include "engine/inspector/trace_maker.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/gui_panel.h"
#include "engine/window/late_reads.h"
#include "engine/window/plot.h"

namespace firn {

/// Watches an executor as long as it lives. Kernels that were edited stay so after it.
class Inspector {
  public:
    /// Medians of the last samples, each of which is a mean over half a second or so.
    struct Timing {
        double milliseconds = 0;  // of a dispatch
        double per_frame = 0;     // of all dispatches of a frame
        size_t samples = 0;       // 0: not known
    };

    Inspector(std::shared_ptr<VulkanExecutor> executor, const InspectorTools& tools,
              const std::string& title);
    ~Inspector();
    Inspector(const Inspector&) = delete;
    Inspector& operator=(const Inspector&) = delete;

    /// Times of the last half second or so, in which so many frames were drawn.
    void add_times(const std::vector<KernelTime>& times, int frames);
    /// Between the beginning and the end of a frame of Dear ImGui. False when the person closed it.
    bool draw(float scale, std::vector<PanelPart>& places);

    /// Something is on its way from the device, which a later frame shows.
    bool is_reading() const { return !reads_.is_empty(); }
    /// What was edited and not swapped in yet, and what the compiler said of it: for tests.
    const std::vector<std::string>& errors() const { return errors_; }
    const std::string& said() const { return said_; }
    /// What it has said since it was asked last, errors too.
    std::vector<std::string> take_said();
    const std::shared_ptr<const Program>& program() const { return selected_.program; }
    const TensorSummary& summary() const { return summary_; }
    const PassView& kernel_passes() const { return kernel_passes_; }
    const PassView& graph_passes() const { return graph_passes_; }
    const ScheduleView& schedule() const { return schedule_; }
    /// Milliseconds of a dispatch, of the last half seconds.
    std::vector<float> history(int64_t program, const std::string& kernel) const;
    Timing timing(int64_t program, const std::string& kernel) const;

    struct CallTensor;

  private:
    struct Times {
        Plot history;                                 // milliseconds of a dispatch
        std::vector<double> milliseconds, per_frame;  // the last samples
        Timing generated;                             // before an edited one was swapped in
        Timing median() const;
        void forget();
    };
    struct Selected {
        std::shared_ptr<const Program> program;
        int64_t number = 0;  // of the program, as times name it
        size_t kernel = 0;
    };
    void choose_program(const std::vector<WatchedCall>& calls);
    void choose_kernel(size_t kernel);
    const WatchedCall* selected_call(const std::vector<WatchedCall>& calls) const;
    void draw_kernels(const WatchedCall& call, float scale);
    const KernelWork* counts_of(const WatchedCall& call);
    void draw_facts(const WatchedCall& call, float scale);
    void draw_code();
    void draw_glsl(float height);
    float height_below_editor() const;
    void draw_tensors(const WatchedCall& call, float scale);
    void draw_tensor(const WatchedCall& call, const CallTensor& shown, float scale);
    void draw_line(float scale);
    /// A field of its own for what is looked for in a list; `place` names it.
    bool draw_search(const char* place, std::array<char, 64>& text);
    void draw_summary(float scale);
    void look_at(const CallTensor& shown, const std::string& which);
    void save(const CallTensor& shown);
    void read(const CallTensor& shown, Callback<void(std::span<const std::byte>)> take);
    void draw_graph(float height);
    void draw_kernel_passes(float height);
    void draw_schedule(float scale);
    void draw_verdicts() const;
    /// The trace of the selected program; without one says why, or that it is being made.
    const CompileTrace* trace();
    Times& times_of(const KernelInfo& kernel) { return times_[{selected_.number, kernel.name}]; }
    void draw_memory(float scale);
    void swap_in();
    void give_back(const Selected& edited);
    void time_first_run(double most_seconds);
    void draw_edited(const KernelInfo& kernel);
    void note(const char* name);

    std::shared_ptr<VulkanExecutor> executor_;
    InspectorTools tools_;
    std::string title_;
    Selected selected_;
    bool looked_at_ = false;                                  // the person has clicked here
    std::map<std::pair<int64_t, std::string>, Times> times_;  // by program and kernel
    std::map<std::pair<const Program*, size_t>, std::string> edited_;  // what runs in its place
    std::vector<char> text_;                                           // in the editor
    std::vector<std::string> errors_, told_errors_;
    std::string spirv_, said_, told_;
    TraceMaker traces_;
    PassView graph_passes_, kernel_passes_;
    ScheduleView schedule_;
    std::vector<KernelWork> counts_;  // of the selected program, at these sizes
    std::pair<const Program*, SizeEnv> counted_;
    std::array<char, 64> kernel_search_{}, tensor_search_{};
    size_t tensor_ = 0;
    LinePick pick_;
    int observed_ = -1;                         // the temporary that is looked at in this frame
    std::pair<int64_t, int> observing_{0, -1};  // the last one, and its program
    int64_t observed_since_ = 0;                // calls
    LateReads reads_;
    TensorSummary summary_;
    std::string summarised_, asked_;  // of which; and which is to be
    int summary_age_ = 0;             // frames
    Plot memory_;
    std::vector<PanelPart>* places_ = nullptr;
};

}  // namespace firn
