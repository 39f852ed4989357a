// Long work: progress reports, and requests to end it.
#pragma once
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "compiler/base/compile_progress.h"

namespace firn {

struct WorkProgress {
    std::string text;   // the work and its progress: `loading 120 of 400 pictures`
    double share = -1;  // the share that is done, from 0 to 1; below 0: unknown
};
/// A callback for progress; it returns false to end the work.
using WorkWatch = std::function<bool(const WorkProgress&)>;

/// Makes `watch` the callback for the work of this thread from now on; empty: none.
void watch_work(WorkWatch watch);
/// Returns whether this thread has a callback.
bool is_work_watched();

/// Thrown by work that its callback ended.
struct Cancelled : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// While it lives, Cancelled is caught on this thread: work that is of no use when it is done in
/// part ends by it. Else such work is finished.
class CancelScope {
  public:
    /// `is_asked_to_end` returns whether all work of the thread is to end, as after Ctrl-C; empty:
    /// never. `on_end` is called with the name of the work that ends before Cancelled is thrown,
    /// because unwinding may take a while: it waits for threads that took part.
    explicit CancelScope(std::function<bool()> is_asked_to_end = {},
                         std::function<void(const std::string& text)> on_end = {});
    ~CancelScope();
    CancelScope(const CancelScope&) = delete;
    CancelScope& operator=(const CancelScope&) = delete;
    static bool is_open();
    /// Throws Cancelled, which names the work that was ended, if the innermost scope of this thread
    /// is asked to end. Long work calls this between programs, between their parts, and in waits.
    static void end_if_asked(const char* what, const std::string& of);
    /// Returns whether end_if_asked would throw. False during the unwinding of another exception,
    /// which may lead through long work.
    static bool is_asked();
    /// Throws Cancelled, which says that `work` was ended.
    [[noreturn]] static void end(const std::string& work,
                                 const std::string& why = "ended before it was done");

  private:
    std::function<bool()> is_asked_to_end_;
    std::function<void(const std::string&)> on_end_;
    CancelScope* outer_;
};

/// One piece of such work, from its making to its end.
class LongWork {
  public:
    LongWork() = default;
    ~LongWork();
    LongWork(const LongWork&) = delete;
    LongWork& operator=(const LongWork&) = delete;

    /// Reports progress, 30 times a second at most: to the callback of this thread and, if the work
    /// has taken longer than half a second, as a line that is rewritten on a terminal (stderr).
    /// Returns false if the callback wants the work to end.
    bool tell(const WorkProgress& progress);
    /// The same for work that is of no use when it is done in part, see CancelScope.
    void tell_or_end(const WorkProgress& progress);
    /// The line alone.
    void write(const std::string& text);

  private:
    using Clock = std::chrono::steady_clock;
    bool is_due();
    Clock::time_point begin_ = Clock::now(), told_{};
    bool goes_on_ = true, written_ = false;
};

/// A watch that writes such a line too. Empty where `watch` is and there is no terminal.
CompileWatch with_line(const CompileWatch& watch);

/// Calls the callback of this thread, and writes no line: for work that writes a line of its own.
bool tell_work(const WorkProgress& progress);

}  // namespace firn
