// Ends of waits in tests, by the pace of the machine.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>

namespace firn {

/// Returns how many times slower a thread is than if nothing else ran: the number of threads that
/// want a core now, for each core; 1 at least, and if the system does not tell.
inline double pace_of_machine() {
    int running = 0;
    if (std::FILE* file = std::fopen("/proc/loadavg", "r")) {
        if (std::fscanf(file, "%*f %*f %*f %d/", &running) != 1) running = 0;
        std::fclose(file);
    }
    return std::max(1.0, running / double(std::max(1u, std::thread::hardware_concurrency())));
}

/// A clock that goes as fast as the machine gives time to a thread. A test waits for what must be
/// there, and asks a Deadline only when it is to fail.
class Deadline {
  public:
    /// `seconds`: of a machine on which nothing else runs.
    explicit Deadline(double seconds = 20) : left_(seconds) {}
    bool is_over() {
        count();
        return left_ <= 0;
    }
    /// Seconds of such a machine since the beginning.
    double seconds() {
        count();
        return seconds_;
    }

  private:
    using Clock = std::chrono::steady_clock;
    void count() {
        const Clock::time_point now = Clock::now();
        if (now - measured_ > std::chrono::milliseconds(50)) {
            pace_ = pace_of_machine();
            measured_ = now;
        }
        const double passed = std::chrono::duration<double>(now - last_).count() / pace_;
        last_ = now, seconds_ += passed, left_ -= passed;
    }

    double left_, seconds_ = 0, pace_ = pace_of_machine();
    Clock::time_point last_ = Clock::now(), measured_ = last_;
};

/// Asks until `done`, and gives whether it is; false after so many seconds of Deadline.
inline bool comes_true(const std::function<bool()>& done, double seconds = 20) {
    for (Deadline deadline(seconds); !done();) {
        if (deadline.is_over()) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

}  // namespace firn
