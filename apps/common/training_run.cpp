// The loss, measurements and checkpoints of demos that train.
#include "apps/common/training_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "compiler/base/error.h"

namespace firn {
namespace {

/// The share of the running mean of the loss that stays from frame to frame.
constexpr float kSmooth = 0.95f;

/// Runs `what` when the button is pressed. An error is shown in the panel, and the run continues.
void by_button(Window& window, const char* name, const std::string& done,
               const Callback<void()>& what) {
    if (!window.gui().button(name)) return;
    try {
        what();
        window.gui().text("checkpoint", done);
    } catch (const UserError& error) {
        window.gui().text("checkpoint", error.what());
    }
}

}  // namespace

TrainingRun::TrainingRun(App& app, const TrainingRunOptions& options)
    : app_(&app), options_(options) {
    app.go_on_minimised();
    Gui& gui = app.gui();
    // First, where a small window shows it too.
    gui.plot("loss", std::vector<PlotValue>{}, {.log = true});
    gui.parameter("steps", options_.steps,
                  {.min = 1, .max = 100, .log = true, .help = "training steps per frame"});
    gui.parameter(
        "report", options_.report,
        {.min = 1, .max = 1000, .log = true, .help = "number of frames between two measurements"});
    app.output("save", save_, "file for a checkpoint at every measurement (.safetensors or .npz)");
    app.option("load", load_, "checkpoint to start from");
    app.output("metrics", metrics_path_, "CSV file for the measurements");
}

void TrainingRun::begin(Window& window, const State& state) {
    window.finish_reads();  // losses of the run before
    state_ = state;
    smooth_ = 0;
    count_ = 0;
    step_ = saved_ = 0;
    window.unsaved("");
    progress_ = std::make_unique<Progress>(int64_t(window.options().frames) * options_.steps);
    if (load_.empty()) return;
    load_state(std::exchange(load_, ""), state_);
    loaded_ = true;
}

void TrainingRun::note(Window& window, int64_t step, float loss) {
    // The mean of few losses is the mean of all.
    const float share = std::min(kSmooth, float(count_) / float(count_ + 1));
    ++count_;
    smooth_ = share * smooth_ + (1 - share) * loss;
    window.gui().plot("loss", smooth_, {.log = true});
    progress_->show(step, {{"loss", smooth_}});
    if (window.options().headless) return;  // its pictures are the same in every run
    char text[48];
    std::snprintf(text, sizeof text, "%.3g", progress_->steps_per_second());
    window.gui().text("steps/s", text);
}

void TrainingRun::add(Window& window, int64_t step, const Tensor& loss) {
    step_ = step;
    window.read_later(loss, [this, &window, step](const std::vector<float>& read) {
        note(window, step, read.front());
    });
    // Also on the way: what ends early is not lost.
    if (reports(window) && !save_.empty()) save(save_);
    const std::string path = checkpoint_path(window);
    by_button(window, "save checkpoint", "saved " + path, [&] { save(path); });
    by_button(window, "load checkpoint", "loaded " + path, [&] {
        load_state(path, state_);
        loaded_ = true;
        saved_ = step_;
    });
    tell_unsaved(window);
}

std::string TrainingRun::checkpoint_path(const Window& window) const {
    return save_.empty() ? window.options().title + ".safetensors" : save_;
}

void TrainingRun::save(const std::string& path) {
    save_state(path, state_);
    saved_ = step_;
}

void TrainingRun::tell_unsaved(Window& window) {
    if (step_ == saved_) return window.unsaved("");
    const std::string path = checkpoint_path(window);
    window.unsaved(std::to_string(step_ - saved_) + " training step" +
                       (step_ - saved_ == 1 ? "" : "s") + " (a checkpoint goes to " + path + ")",
                   [this, path] { save(path); });
}

bool TrainingRun::reports(const Window& window) const {
    return window.frame() % options_.report == options_.report - 1 ||
           window.frame() + 1 == window.options().frames;
}

void TrainingRun::report(Window& window, const std::vector<Metric>& metrics) {
    window.finish_reads();
    std::vector<Metric> all{{"loss", smooth_}};
    std::vector<std::string> names{"step"};
    std::vector<double> row{double(step_)};
    all.insert(all.end(), metrics.begin(), metrics.end());
    for (const Metric& each : all) {
        names.push_back(each.name);
        row.push_back(each.value);
    }
    for (const Metric& each : metrics) window.gui().plot(each.name, float(each.value));
    if (!metrics_path_.empty()) {
        if (!metrics_) metrics_ = std::make_unique<CsvWriter>(metrics_path_, names);
        metrics_->add(row);
    }
    progress_->finish();
    std::printf("%s\n", progress_text(step_, 0, all, progress_->steps_per_second()).c_str());
    std::fflush(stdout);
}

bool TrainingRun::loaded() { return std::exchange(loaded_, false); }

}  // namespace firn
