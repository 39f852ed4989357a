// The end of a window: Escape closes what is open first, and the window asks if work would be lost.
#include <utility>

#include "compiler/base/error.h"
#include "engine/window/window_state.h"

namespace firn {

/// Runs with a fixed number of frames ask nothing, since they may run unattended.
bool ViewWindow::State::would_ask() const {
    return os && os->has_display() && options.frames == 0 && !closed && !ending.unsaved.empty();
}

void ViewWindow::State::request_end() {
    if (ending.saves) return;  // it ends when that is done
    if (!would_ask()) {
        closed = true;
        return;
    }
    if (std::exchange(ending.asks, true)) return;
    ending.hidden = std::exchange(hidden, false);
    keys_open = false;
    lively = kLivelyFrames;
}

void ViewWindow::State::take_close() {
    if (!os->take_close()) return;
    if (ending.asks || ending.saves || !os->has_display()) closed = true;  // the second request
    request_end();
}

bool ViewWindow::State::leave_innermost() {
    if (ending.asks)
        answer(EndAnswer::Stay);
    else if (hidden)
        return false;
    else if (panel.close_popup() || std::exchange(keys_open, false) ||
             std::exchange(log_open, false))
        return true;
    else if (inspector)
        toggle_inspector();
    else
        return false;
    return true;
}

bool ViewWindow::State::take_answer(const InputEvent& event) {
    if (!ending.asks) return false;
    if (event.code == 'E') answer(EndAnswer::End);
    if (event.code == static_cast<int>(Key::Enter) && ending.save) answer(EndAnswer::Save);
    if (event.code == static_cast<int>(Key::Escape)) answer(EndAnswer::Stay);
    return true;
}

void ViewWindow::State::answer(EndAnswer wanted) {
    if (wanted == EndAnswer::None || !std::exchange(ending.asks, false)) return;
    hidden = ending.hidden;
    lively = kLivelyFrames;
    closed |= wanted == EndAnswer::End;
    ending.saves = wanted == EndAnswer::Save;
    if (ending.saves && serves) say("it is saved as soon as this is done");
}

void ViewWindow::State::save_and_end() {
    if (serves || !std::exchange(ending.saves, false)) return;
    try {
        ending.save();
        closed = true;
    } catch (const UserError& error) {
        say(error.what());
    }
}

void ViewWindow::unsaved(const std::string& what, Callback<void()> save) {
    State::Ending& ending = state_->ending;
    // The question keeps the work that it asked about.
    if (!ending.asks || !what.empty()) ending.unsaved = what;
    if (!what.empty()) ending.save = std::move(save);
}
bool ViewWindow::would_ask() const { return state_->would_ask(); }
void ViewWindow::request_end() { state_->request_end(); }
WindowEnd ViewWindow::ending() const {
    return state_->closed                                ? WindowEnd::Closed
           : state_->ending.asks || state_->ending.saves ? WindowEnd::Asks
                                                         : WindowEnd::Open;
}

}  // namespace firn
