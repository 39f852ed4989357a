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
    /// How many came.
    int count() const;
    /// Seconds since it came, or since restart(); 0: none came.
    double seconds() const;
    /// What the first one says on the terminal: that the run ends, or that the window asks.
    void set_asks(bool asks);
    /// As if it came now.
    void restart();
    /// As if none had come: the next one is the first again.
    void forget();

  private:
    static void listen(struct sigaction* interrupt, struct sigaction* terminate);

    struct sigaction interrupt_ {
    }, terminate_{};  // what was done before
};

}  // namespace firn
