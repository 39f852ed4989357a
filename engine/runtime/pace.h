// Sizes submissions: a display's driver ends one that keeps its GPU for about 2 s, and nothing else
// can run meanwhile.
#pragma once
#include <cstddef>

namespace firn {

/// Learns from the time that submissions took how far predictions are off.
class Pace {
  public:
    /// Device time of a submission, in seconds: far below the limit of drivers, far above its own
    /// cost.
    static constexpr double kSeconds = 0.1;
    /// Most steps of a submission: their records take some megabytes.
    static constexpr size_t kMostSteps = 4096;

    /// Returns whether steps of so many predicted seconds are enough for a submission of `seconds`.
    bool is_enough(size_t steps, double predicted, double seconds = kSeconds) const {
        return steps >= kMostSteps || (steps > 0 && predicted * slower_ >= seconds);
    }
    /// Notes that a submission took `seconds`, with `predicted` expected.
    void measured(double predicted, double seconds);

  private:
    double slower_ = 32;  // measured / predicted; the first submission is small
};

}  // namespace firn
