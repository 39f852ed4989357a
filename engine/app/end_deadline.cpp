// Ends a process whose work does not stop by itself within a time limit.
#include "engine/app/end_deadline.h"

#include <chrono>
#include <utility>

namespace firn {

EndDeadline::EndDeadline(std::function<void(const std::string&)> leave)
    : leave_(std::move(leave)) {}

EndDeadline::~EndDeadline() { has_ended(); }

void EndDeadline::begin(const std::string& text, double seconds) {
    if (thread_.joinable()) return;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    thread_ = std::jthread([this, text, end] {
        {
            std::unique_lock lock(mutex_);
            if (changed_.wait_until(lock, end, [&] { return ended_; })) return;
            leaves_ = true;
        }
        leave_(text);
    });
}

void EndDeadline::has_ended() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !leaves_; });
    ended_ = true;
    changed_.notify_all();
}

void EndDeadline::leave(const std::string& text) {
    begin(text, 0);
    thread_.join();
}

}  // namespace firn
