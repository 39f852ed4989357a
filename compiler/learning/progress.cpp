// A progress line, and the speed that it tells.
#include "compiler/learning/progress.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include "compiler/base/long_work.h"

namespace firn {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
}

std::string duration_text(double seconds) {
    const auto whole = int64_t(seconds + 0.5);
    if (whole < 60) return std::to_string(whole) + " s";
    if (whole < 3600)
        return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace

std::string progress_text(int64_t step, int64_t total, const std::vector<Metric>& metrics,
                          double steps_per_second) {
    std::string out = "step " + std::to_string(step);
    if (total > 0) out += "/" + std::to_string(total);
    char number[64];
    for (const Metric& each : metrics) {
        // The sign of a nan says nothing.
        std::snprintf(number, sizeof number, "%.4g",
                      std::isnan(each.value) ? std::abs(each.value) : each.value);
        out += "  " + each.name + " " + number;
    }
    if (steps_per_second <= 0) return out;
    std::snprintf(number, sizeof number, "%.3g", steps_per_second);
    out += "  " + std::string(number) + " steps/s";
    if (total > step)
        out += "  " + duration_text(double(total - step) / steps_per_second) + " left";
    return out;
}

struct Progress::State {
    int64_t total = 0;
    bool terminal = isatty(2) == 1;
    std::string text;
    size_t drawn = 0;  // characters of the line on the terminal
    Clock::time_point written = Clock::now() - std::chrono::hours(1), marked = Clock::now();
    int64_t marked_step = 0;
    bool begun = false;
    double rate = 0;

    void write() {
        written = Clock::now();
        if (text.empty()) return;
        if (!terminal) {
            std::fprintf(stderr, "%s\n", text.c_str());
            return;
        }
        std::string line = text;
        line.resize(std::max(line.size(), drawn), ' ');  // over the end of a longer one
        drawn = text.size();
        std::fprintf(stderr, "\r%s", line.c_str());
        std::fflush(stderr);
    }
};

Progress::Progress(int64_t total) : state_(std::make_shared<State>()) { state_->total = total; }

Progress::~Progress() { finish(); }

void Progress::show(int64_t step, const std::vector<Metric>& metrics) {
    State& s = *state_;
    // The first step compiles: how long it took says nothing of the others. A run that begins again
    // is measured anew.
    if (!s.begun || step < s.marked_step) {
        s.begun = true;
        s.marked = Clock::now(), s.marked_step = step;
    }
    const double since = seconds_since(s.marked);
    if (since >= 1 || (s.rate == 0 && since > 0 && step > s.marked_step)) {
        const double now = double(step - s.marked_step) / since;
        s.rate = s.rate == 0 ? now : 0.5 * s.rate + 0.5 * now;
        if (since >= 1) s.marked = Clock::now(), s.marked_step = step;
    }
    s.text = progress_text(step, s.total, metrics, s.rate);
    tell_work({s.text, s.total > 0 ? double(step) / double(s.total) : -1});
    if (seconds_since(s.written) >= (s.terminal ? 0.1 : 10)) s.write();
}

double Progress::steps_per_second() const { return state_->rate; }

void Progress::finish() {
    if (state_->text.empty()) return;
    state_->write();
    if (state_->terminal) std::fputs("\n", stderr);
    state_->text.clear();
    state_->drawn = 0;
}

}  // namespace firn
