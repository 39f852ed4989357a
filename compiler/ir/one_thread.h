// Lets one thread at a time into a session, and keeps objects that other threads leave to be
// released there.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "compiler/ir/source_line.h"

namespace firn {

/// Guards data that belongs to one thread at a time by a check that costs no lock: entering is an
/// atomic exchange, entering again on the same thread a comparison. A thread that enters sees all
/// writes of the threads before.
class OneThread {
  public:
    OneThread() = default;
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

    /// UserError with the line where another thread is inside. Every enter needs its leave, on the
    /// same thread.
    void enter(SourceLine line);
    void leave();

    /// Runs `release` now where no other thread is inside, else on the one that is, when it leaves.
    template <class Release>
    void release(Release release) {
        if (!try_enter()) return hand_over(std::function<void()>(std::move(release)));
        release();
        leave();
    }

  private:
    /// Enters for as long as a release takes: a thread that enters meanwhile waits for it.
    bool try_enter();
    void hand_over(std::function<void()> release);
    void run_handed_over();

    std::atomic<uintptr_t> inside_{0};      // the thread; with bit 0 where it only releases
    uint64_t depth_ = 0;                    // of enters, of the thread inside
    std::atomic<bool> handed_over_{false};  // there is something in `releases_`
    std::mutex mutex_;
    std::vector<std::function<void()>> releases_;
};

/// Inside until the end of the scope.
class Inside {
  public:
    Inside(OneThread& place, SourceLine line) : place_(place) { place_.enter(line); }
    ~Inside() { place_.leave(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

  private:
    OneThread& place_;
};

}  // namespace firn
