// Inspector: shows programs, kernels, tensors, schedule and memory of a running program in a window
// of Dear ImGui.
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

/// Watches an executor as long as it lives. Edited kernels stay edited afterwards.
class Inspector {
  public:
    /// Medians of the last samples; each sample is a mean over about half a second.
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

    /// Adds the times of the last half second or so, in which `frames` frames were drawn.
    void add_times(const std::vector<KernelTime>& times, int frames);
    /// Draws the window; to be called within a frame of Dear ImGui. False when the user has closed
    /// it.
    bool draw(float scale, std::vector<PanelPart>& places);

    /// True while a read from the device is under way, which a later frame will show.
    bool is_reading() const { return !reads_.is_empty(); }
    /// The compiler's errors for an edit that is not swapped in, and the last message: for tests.
    const std::vector<std::string>& errors() const { return errors_; }
    const std::string& said() const { return said_; }
    /// Returns the messages and errors since the last call.
    std::vector<std::string> take_said();
    const std::shared_ptr<const Program>& program() const { return selected_.program; }
    const TensorSummary& summary() const { return summary_; }
    const PassView& kernel_passes() const { return kernel_passes_; }
    const PassView& graph_passes() const { return graph_passes_; }
    const ScheduleView& schedule() const { return schedule_; }
    /// Milliseconds of a dispatch, one number for each of the last half seconds.
    std::vector<float> history(int64_t program, const std::string& kernel) const;
    Timing timing(int64_t program, const std::string& kernel) const;

    struct CallTensor;

  private:
    struct Times {
        Plot history;                                 // in milliseconds of a dispatch
        std::vector<double> milliseconds, per_frame;  // the last samples
        Timing generated;                             // before the kernel was edited
        Timing median() const;
        void forget();
    };
    struct Selected {
        std::shared_ptr<const Program> program;
        int64_t number = 0;  // the program's number in KernelTime
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
    /// Draws a search field for a list; `place` names it.
    bool draw_search(const char* place, std::array<char, 64>& text);
    void draw_summary(float scale);
    void look_at(const CallTensor& shown, const std::string& which);
    void save(const CallTensor& shown);
    void read(const CallTensor& shown, Callback<void(std::span<const std::byte>)> take);
    void draw_graph(float height);
    void draw_kernel_passes(float height);
    void draw_schedule(float scale);
    void draw_verdicts() const;
    /// Returns the trace of the selected program; if there is none, draws the reason, or that it is
    /// being made.
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
    bool looked_at_ = false;                                           // the user has clicked here
    std::map<std::pair<int64_t, std::string>, Times> times_;           // by program and kernel
    std::map<std::pair<const Program*, size_t>, std::string> edited_;  // code in its place
    std::vector<char> text_;                                           // in the editor
    std::vector<std::string> errors_, told_errors_;
    std::string spirv_, said_, told_;
    TraceMaker traces_;
    PassView graph_passes_, kernel_passes_;
    ScheduleView schedule_;
    std::vector<KernelWork> counts_;  // of the selected program, at the sizes in counted_
    std::pair<const Program*, SizeEnv> counted_;
    std::array<char, 64> kernel_search_{}, tensor_search_{};
    size_t tensor_ = 0;
    LinePick pick_;
    int observed_ = -1;                         // the temporary that this frame shows
    std::pair<int64_t, int> observing_{0, -1};  // the last such temporary, and its program
    int64_t observed_since_ = 0;                // calls
    LateReads reads_;
    TensorSummary summary_;
    std::string summarised_, asked_;  // the tensors of summary_ and of the next summary
    int summary_age_ = 0;             // frames
    Plot memory_;
    std::vector<PanelPart>* places_ = nullptr;
};

}  // namespace firn
