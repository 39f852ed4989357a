// Programs, kernels, tensors, schedule and memory of a running program, as a window of Dear ImGui.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/inspector/inspector_tools.h"
#include "engine/inspector/tensor_summary.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/gui_panel.h"
#include "engine/window/plot.h"

namespace firn {

/// Watches an executor as long as it lives. Kernels that were edited stay so after it.
class Inspector {
  public:
    Inspector(std::shared_ptr<VulkanExecutor> executor, const InspectorTools& tools,
              const std::string& title);
    ~Inspector();
    Inspector(const Inspector&) = delete;
    Inspector& operator=(const Inspector&) = delete;

    /// Times of the last half second or so, in which so many frames were drawn.
    void add_times(const std::vector<KernelTime>& times, int frames);
    /// Between the beginning and the end of a frame of Dear ImGui. False when the person closed it.
    bool draw(float scale, std::vector<PlacedPart>& places);

    /// What was edited and not swapped in yet, and what the compiler said of it: for tests.
    const std::vector<std::string>& errors() const { return errors_; }
    const TensorSummary& summary() const { return summary_; }

  private:
    struct Times {
        Plot history;  // milliseconds of a dispatch
        double milliseconds = 0, per_frame = 0;
        double generated = 0;  // before an edited one was swapped in; 0: not known
    };
    struct Selected {
        std::shared_ptr<const Program> program;
        size_t kernel = 0;
    };
    void choose_program(const std::vector<WatchedCall>& calls);
    void choose_kernel(size_t kernel);
    const WatchedCall* selected_call(const std::vector<WatchedCall>& calls) const;
    void draw_kernels(const WatchedCall& call, float scale);
    const KernelCounts* counts_of(const WatchedCall& call);
    void draw_facts(const WatchedCall& call, float scale);
    void draw_code(float scale);
    void draw_glsl(float scale);
    void draw_tensors(const WatchedCall& call, float scale);
    void draw_summary(float scale);
    void draw_schedule() const;
    void draw_memory(float scale);
    void swap_in();
    void give_back();
    void note(const char* name);

    std::shared_ptr<VulkanExecutor> executor_;
    InspectorTools tools_;
    std::string title_;
    Selected selected_;
    std::map<std::string, Times> times_;                               // by kernel
    std::map<std::pair<const Program*, size_t>, std::string> edited_;  // what runs in its place
    std::vector<char> text_;                                           // in the editor
    std::vector<std::string> errors_;
    std::string spirv_, kernel_code_, said_;
    std::vector<KernelCounts> counts_;  // of the selected program, at these sizes
    std::pair<const Program*, SizeEnv> counted_;
    size_t tensor_ = 0;
    TensorSummary summary_;
    std::string summarised_;  // of which
    int summary_age_ = 0;     // frames
    Plot memory_;
    std::vector<PlacedPart>* places_ = nullptr;
};

}  // namespace firn
