// Measures the time of a compile's stages.
#pragma once
#include <ctime>

namespace firn {

/// Milliseconds that this thread has computed: others on the machine do not count.
inline double thread_milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Adds the thread's processor time between its construction and its destruction to `sum`.
class StageTimer {
  public:
    explicit StageTimer(double& sum) : sum_(sum), start_(thread_milliseconds()) {}
    ~StageTimer() { sum_ += thread_milliseconds() - start_; }
    StageTimer(const StageTimer&) = delete;
    StageTimer& operator=(const StageTimer&) = delete;

  private:
    double& sum_;
    double start_;
};

}  // namespace firn
