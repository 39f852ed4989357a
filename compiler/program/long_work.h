// Work that takes long: how far it is, and whether somebody wants it to end.
#pragma once
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "compiler/program/compile_progress.h"

namespace firn {

struct WorkProgress {
    std::string text;   // what is done, and how far: `loading 120 of 400 pictures`
    double share = -1;  // of all of it, from 0 to 1; below 0 where nobody knows
};
/// False: whoever watches wants the work to end.
using WorkWatch = std::function<bool(const WorkProgress&)>;

/// From now on told of the work of this thread; empty: nobody is.
void watch_work(WorkWatch watch);
/// Somebody watches this thread already.
bool is_work_watched();

/// Work that was ended because whoever watches wanted that.
struct Cancelled : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// While it lives, Cancelled is caught on this thread: work that is of no use when it is done in
/// part ends by it. Else such work is finished.
class CancelScope {
  public:
    /// `is_asked_to_end`: whether all work of the thread is to end, as after Ctrl-C; empty: never.
    /// `on_end` is told what ends before Cancelled is thrown, whose way up may take a while: it
    /// waits for threads that took part.
    explicit CancelScope(std::function<bool()> is_asked_to_end = {},
                         std::function<void(const std::string& text)> on_end = {});
    ~CancelScope();
    CancelScope(const CancelScope&) = delete;
    CancelScope& operator=(const CancelScope&) = delete;
    static bool is_open();
    /// Throws Cancelled, which says what was ended, where the innermost scope of this thread is
    /// asked to end. For what goes on for long: between programs, their parts, and in waits.
    static void end_if_asked(const char* what, const std::string& of);
    /// Whether end_if_asked would throw: never while something else is thrown, whose way up may
    /// lead through long work.
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

    /// Passes it on, 30 times a second at most: to who watches this thread, and, where it has taken
    /// longer than half a second, as a line that is rewritten on a terminal (stderr). False where
    /// who watches wants it to end.
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

/// Tells who watches this thread, and writes no line: for work that writes one of its own.
bool tell_work(const WorkProgress& progress);

}  // namespace firn
