// InterruptScope turns SIGINT and SIGTERM into requests to end a run in order.
#pragma once
#include <csignal>

namespace firn {

/// While it lives, the first SIGINT and the first SIGTERM are recorded and reported on the
/// terminal; later ones end the program at once, as by default. Only one may exist at a time.
class InterruptScope {
  public:
    InterruptScope();
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;

    /// The signal that has arrived; 0: none.
    int signal() const;
    /// The number of signals that have arrived.
    int count() const;
    /// Seconds since the signal arrived, or since restart(); 0: none has arrived.
    double seconds() const;
    /// Chooses the message of the first signal: that the run ends (false), or that the window asks
    /// (true).
    void set_asks(bool asks);
    /// Restarts the clock of seconds(), as if the signal had arrived now.
    void restart();
    /// Forgets the signals: the next one is the first again.
    void forget();

  private:
    static void listen(struct sigaction* interrupt, struct sigaction* terminate);

    struct sigaction interrupt_ {
    }, terminate_{};  // the handlers before
};

}  // namespace firn
