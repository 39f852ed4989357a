// Lets one thread at a time into a session, and keeps objects that other threads leave to be
// released there.
#include "compiler/ir/one_thread.h"

#include <string>
#include <thread>
#include <utility>

#include "compiler/base/error.h"

namespace firn {
namespace {

constexpr uintptr_t kReleasing = 1;

/// A number of this thread alone, and even.
uintptr_t this_thread() {
    thread_local const uint64_t own = 0;
    return reinterpret_cast<uintptr_t>(&own);
}

}  // namespace

void OneThread::enter(SourceLine line) {
    const uintptr_t self = this_thread();
    if ((inside_.load(std::memory_order_relaxed) & ~kReleasing) == self) {
        ++depth_;
        return;
    }
    for (uintptr_t other = 0; !inside_.compare_exchange_weak(other, self); other = 0) {
        if (other != 0 && !(other & kReleasing))
            throw UserError(
                "two threads are in one session at once; a session is used by one thread at a "
                "time: give each thread a "
                "Session of its own, or let one wait for the other" +
                (line.line ? " (" + text(line) + ")" : std::string()));
        std::this_thread::yield();
    }
    depth_ = 1;
}

bool OneThread::try_enter() {
    const uintptr_t self = this_thread();
    uintptr_t other = 0;
    if (inside_.compare_exchange_strong(other, self | kReleasing)) {
        depth_ = 1;
        return true;
    }
    if ((other & ~kReleasing) != self) return false;
    ++depth_;
    return true;
}

void OneThread::leave() {
    if (depth_ > 1) {
        --depth_;
        return;
    }
    for (;;) {
        if (handed_over_) run_handed_over();
        depth_ = 0;
        inside_ = 0;
        // Objects that were handed over since then have no other thread to release them.
        if (!handed_over_ || !try_enter()) return;
    }
}

void OneThread::hand_over(std::function<void()> release) {
    {
        std::lock_guard lock(mutex_);
        releases_.push_back(std::move(release));
        handed_over_ = true;
    }
    if (try_enter()) leave();
}

void OneThread::run_handed_over() {
    std::vector<std::function<void()>> releases;
    {
        std::lock_guard lock(mutex_);
        releases.swap(releases_);
        handed_over_ = false;
    }
    for (const auto& release : releases) release();
}

}  // namespace firn
