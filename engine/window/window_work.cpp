// Serves windows during long work: they answer, say how far it is, and end it if they are closed.
#include <algorithm>
#include <utility>

#include "compiler/base/long_work.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/widgets.h"
#include "engine/window/window_state.h"

namespace firn {
namespace {

/// The time for which a window shows work that has reported nothing since; work that continues
/// reports earlier.
constexpr std::chrono::milliseconds kWorkTime{500};
/// A window that has not drawn for so long seems to hang.
constexpr std::chrono::milliseconds kAnswerTime{100};
/// The waits for the device, in seconds, that a person takes for slow and for endless.
constexpr double kSlowSeconds = 1, kEndlessSeconds = 5;

}  // namespace

void ViewWindow::State::serve(const std::string& text, double share) {
    work = text, work_share = share;
    work_ends = FrameClock::now() + kWorkTime;
    // The current frame keeps the keys with which it began.
    const RawInput frame_input = input;
    serves = true;
    take_input();
    serves = false;
    input = frame_input;
    if (closed)
        os->hide();
    else
        draw_unasked();
}

void ViewWindow::State::serve_all(const std::string& text, double share) {
    for (State* each : on_screen())
        if (!each->closed) each->serve(text, share);
}

void ViewWindow::State::name_wait(double seconds) {
    const auto now = static_cast<int64_t>(seconds);
    if (std::exchange(waited, now) == now) return;
    os->set_title(now == 0 ? options.title
                           : options.title + ": the device has been busy for " +
                                 std::to_string(now) + " s");
}

void ViewWindow::State::serve_wait(Device& device, double seconds) {
    bool leaving = false;
    for (State* each : on_screen()) {
        each->os->listen();
        if (seconds >= kSlowSeconds) each->name_wait(seconds);
        leaving |= each->os->is_leaving() || (each->is_over && each->is_over());
    }
    if (leaving && seconds >= kEndlessSeconds && !device.suspected().empty())
        device.give_up(seconds);
}

bool ViewWindow::State::is_any_closed() {
    return std::any_of(on_screen().begin(), on_screen().end(),
                       [](State* each) { return each->is_asked_to_end(); });
}

bool ViewWindow::State::is_asked_to_end() {
    const bool over = is_over && is_over();
    closed |= over;
    return (closed && !knows_closed) || (over && !knows_over);
}

bool ViewWindow::State::tell_end() {
    knows_closed = true;
    knows_over = is_over && is_over();
    return end();
}

void ViewWindow::State::watch_for_end() {
    // A visible window watches for all windows, and a window that watches already continues to.
    if (!on_screen().empty() || runs->compile_watch() || is_work_watched()) return;
    watches = true;
    runs->on_compile([this](const CompileProgress& progress) {
        if (is_asked_to_end() && CancelScope::is_open()) CancelScope::end(text(progress));
    });
    watch_work([this](const WorkProgress&) { return !is_asked_to_end(); });
}

bool ViewWindow::State::serve_work(const WorkProgress& work) {
    for (State* each : on_screen()) {
        each->work = work.text, each->work_share = work.share;
        each->work_ends = FrameClock::now() + kWorkTime;
        if (!each->closed && FrameClock::now() - each->drawn_at > kAnswerTime)
            each->serve(work.text, work.share);
    }
    return !is_any_closed();
}

}  // namespace firn
