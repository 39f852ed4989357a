// SIGINT and SIGTERM as a wish that a run ends in order.
#include "engine/app/interrupt.h"

#include <unistd.h>

#include <cerrno>

namespace firn {
namespace {

volatile std::sig_atomic_t received = 0;

void note(int number) {
    const int error = errno;
    received = number;
    constexpr char kText[] =
        "\nends with what is under way, and writes what was asked for; once more ends it at once\n";
    if (write(STDERR_FILENO, kText, sizeof kText - 1) < 0) {
        // Nobody listens.
    }
    errno = error;
}

}  // namespace

InterruptScope::InterruptScope() {
    received = 0;
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, &interrupt_);
    sigaction(SIGTERM, &action, &terminate_);
}

InterruptScope::~InterruptScope() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
}

int InterruptScope::signal() const { return received; }

}  // namespace firn
