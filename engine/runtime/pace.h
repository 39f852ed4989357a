// How much goes into one submission: a display's driver ends what keeps its GPU for about 2 s, and
// nothing else can run meanwhile.
#pragma once
#include <cstddef>

namespace firn {

/// Learns from the time that submissions took how far predictions are off.
class Pace {
  public:
    /// Device time that a submission is to take, in seconds: far below what ends it, far above what
    /// it costs.
    static constexpr double kSeconds = 0.1;
    /// Steps of a submission at the most: what is held of them is some megabytes.
    static constexpr size_t kMostSteps = 4096;

    /// Whether steps that are predicted to take so long are enough for a submission of `seconds`.
    bool is_enough(size_t steps, double predicted, double seconds = kSeconds) const {
        return steps >= kMostSteps || (steps > 0 && predicted * slower_ >= seconds);
    }
    /// A submission that was predicted to take so long took `seconds`.
    void measured(double predicted, double seconds);

  private:
    double slower_ = 32;  // measured / predicted; the first submission is small
};

}  // namespace firn
