// Submissions of bounded device time.
#include "engine/runtime/pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace firn {
namespace {

/// Seconds that submissions take on a device that is `slower` than predicted, where a step is
/// predicted to take `step`.
std::vector<double> submissions(double slower, double step, int count) {
    Pace pace;
    std::vector<double> out;
    for (int k = 0; k < count; ++k) {
        size_t steps = 1;
        while (!pace.is_enough(steps, static_cast<double>(steps) * step)) ++steps;
        out.push_back(static_cast<double>(steps) * step * slower);
        pace.measured(static_cast<double>(steps) * step, out.back());
    }
    return out;
}

TEST(Pace, StaysFarFromAWatchdogWhereADeviceIsSlow) {
    for (double seconds : submissions(100, 1e-5, 8)) EXPECT_LE(seconds, 0.5);
    EXPECT_NEAR(submissions(100, 1e-5, 8).back(), Pace::kSeconds, 0.01);
}
TEST(Pace, GrowsWhereADeviceIsFast) {
    EXPECT_NEAR(submissions(0.1, 1e-3, 12).back(), Pace::kSeconds, 0.01);
}
TEST(Pace, HoldsNoMoreThanSomeSteps) { EXPECT_TRUE(Pace().is_enough(Pace::kMostSteps, 0)); }

}  // namespace
}  // namespace firn
