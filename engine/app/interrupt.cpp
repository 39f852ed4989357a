// Turns SIGINT and SIGTERM into requests to end a run in order.
#include "engine/app/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace firn {
namespace {

volatile std::sig_atomic_t received = 0, times = 0, window_asks = 0;
std::atomic<int64_t> received_at{0};  // nanoseconds
static_assert(std::atomic<int64_t>::is_always_lock_free, "a signal comes at any time");

int64_t nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void note(int number) {
    const int error = errno;
    received_at = nanoseconds();
    received = number;
    times = times + 1;
    constexpr char kEnds[] =
        "\nending: files that were asked for are saved; Ctrl-C once more ends at once\n";
    constexpr char kAsks[] =
        "\nwork is not saved: the window asks what to do; Ctrl-C once more ends at once\n";
    const bool asks = window_asks != 0;
    if (write(STDERR_FILENO, asks ? kAsks : kEnds, (asks ? sizeof kAsks : sizeof kEnds) - 1) < 0) {
        // Stderr is closed.
    }
    errno = error;
}

}  // namespace

void InterruptScope::listen(struct sigaction* interrupt, struct sigaction* terminate) {
    received = 0;
    times = 0;
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, interrupt);
    sigaction(SIGTERM, &action, terminate);
}

InterruptScope::InterruptScope() {
    window_asks = 0;
    listen(&interrupt_, &terminate_);
}

InterruptScope::~InterruptScope() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
}

int InterruptScope::signal() const { return received; }
int InterruptScope::count() const { return times; }
void InterruptScope::set_asks(bool asks) { window_asks = asks; }
void InterruptScope::restart() { received_at = nanoseconds(); }
void InterruptScope::forget() { listen(nullptr, nullptr); }
double InterruptScope::seconds() const {
    return received ? 1e-9 * static_cast<double>(nanoseconds() - received_at) : 0;
}

}  // namespace firn
