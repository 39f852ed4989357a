// Long work: progress reports, and requests to end it.
#include "compiler/base/long_work.h"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

namespace firn {
namespace {

constexpr std::chrono::milliseconds kBetween{33};       // a person sees that it goes on
constexpr std::chrono::milliseconds kFirstReport{500};  // shorter work reports nothing

// A pointer, which needs no destructor: a shared library that has made an object with a destructor
// for a thread stays in memory until the thread ends.
thread_local const WorkWatch* watch = nullptr;
thread_local CancelScope* innermost = nullptr;

}  // namespace

void watch_work(WorkWatch next) {
    thread_local WorkWatch own;
    own = std::move(next);
    watch = own ? &own : nullptr;
}
bool is_work_watched() { return watch != nullptr; }

CancelScope::CancelScope(std::function<bool()> is_asked_to_end,
                         std::function<void(const std::string&)> on_end)
    : is_asked_to_end_(std::move(is_asked_to_end)),
      on_end_(std::move(on_end)),
      outer_(std::exchange(innermost, this)) {}
CancelScope::~CancelScope() { innermost = outer_; }
bool CancelScope::is_open() { return innermost != nullptr; }
void CancelScope::end_if_asked(const char* what, const std::string& of) {
    if (is_asked()) end(what + (" '" + of) + "'");
}
bool CancelScope::is_asked() {
    return innermost && innermost->is_asked_to_end_ && innermost->is_asked_to_end_() &&
           std::uncaught_exceptions() == 0;
}
void CancelScope::end(const std::string& work, const std::string& why) {
    const std::string text = work + ": " + why;
    if (innermost && innermost->on_end_) innermost->on_end_(text);
    throw Cancelled(text);
}

bool tell_work(const WorkProgress& progress) { return !watch || (*watch)(progress); }

LongWork::~LongWork() {
    if (written_) std::fputs("\r\033[K", stderr);
}

bool LongWork::is_due() {
    const Clock::time_point now = Clock::now();
    if (now - told_ < kBetween) return false;
    told_ = now;
    return true;
}

bool LongWork::tell(const WorkProgress& progress) {
    if (!is_due()) return goes_on_;
    if (!tell_work(progress)) goes_on_ = false;
    write(progress.text);
    return goes_on_;
}

void LongWork::tell_or_end(const WorkProgress& progress) {
    if (!tell(progress) && CancelScope::is_open()) CancelScope::end(progress.text);
}

CompileWatch with_line(const CompileWatch& watch) {
    if (!watch && !isatty(STDERR_FILENO)) return {};
    return [watch, line = std::make_shared<LongWork>()](const CompileProgress& progress) {
        line->write(text(progress));
        if (watch) watch(progress);
    };
}

void LongWork::write(const std::string& text) {
    if (Clock::now() - begin_ < kFirstReport || !isatty(STDERR_FILENO)) return;
    written_ = true;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
}

}  // namespace firn
