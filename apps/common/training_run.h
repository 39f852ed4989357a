// The common part of demos that train: steps, the loss as it falls, measurements, checkpoints.
#pragma once
#include <firn/firn.h>
#include <firn/learning.h>

#include <memory>
#include <string>
#include <vector>

namespace firn {

struct TrainingRunOptions {
    int steps = 4;    // in every frame
    int report = 40;  // frames between measurements
};

/// Made before the command line is read: it adds the sliders `steps` and `report`, buttons to save
/// and load, and the flags --save, --load and --metrics. Steps that no checkpoint has are work that
/// a window asks about before it ends. In the program:
///     run.begin(window, state);                       // and after every reset
///     for (int k = 0; k < run.steps(); ++k) loss = ..;
///     run.add(window, training.steps, loss);
///     if (run.reports(window)) run.report(window, {{"accuracy", ..}});
class TrainingRun {
  public:
    explicit TrainingRun(App& app, const TrainingRunOptions& options = {});

    /// Counts from the beginning. The state is what checkpoints keep; --load is read once.
    void begin(Window& window, const State& state);
    /// Returns the number of steps of this frame.
    int steps() const { return options_.steps; }
    /// So many steps are done, and this is the loss of the last: its running mean is plotted as its
    /// logarithm, and the line on the terminal goes on, when the device has got there. Saves where
    /// that is asked for.
    void add(Window& window, int64_t step, const Tensor& loss);
    /// True in frames in which the program is to measure: every so many, and in the last.
    bool reports(const Window& window) const;
    /// Plots the measurements, prints them, and adds a row to --metrics.
    void report(Window& window, const std::vector<Metric>& metrics);
    /// True once where a checkpoint was loaded: the program shows what it has learned anew.
    bool loaded();

  private:
    void note(Window& window, int64_t step, float loss);
    std::string checkpoint_path(const Window& window) const;
    void save(const std::string& path);
    /// Tells the window how many steps are in no checkpoint.
    void tell_unsaved(Window& window);

    App* app_;
    TrainingRunOptions options_;
    std::string save_, load_, metrics_path_;
    State state_;
    std::unique_ptr<Progress> progress_;
    std::unique_ptr<CsvWriter> metrics_;
    float smooth_ = 0;
    int64_t step_ = 0, count_ = 0, saved_ = 0;  // the last: the step of the last checkpoint
    bool loaded_ = false;
};

}  // namespace firn
