// SIGINT and SIGTERM as a wish that a run ends in order.
#pragma once
#include <csignal>

namespace firn {

/// While it lives, the first SIGINT and the first SIGTERM are noted and said on the terminal; what
/// comes after them ends the program at once, as ever. One at a time.
class InterruptScope {
  public:
    InterruptScope();
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;

    /// The signal that came; 0: none.
    int signal() const;
    /// Seconds since it came; 0: none came.
    double seconds() const;

  private:
    struct sigaction interrupt_ {
    }, terminate_{};  // what was done before
};

}  // namespace firn
