// Estimates from series of timings: the same on a busy machine as on a free one.
#include "engine/gpu/rate_estimates.h"

#include <gtest/gtest.h>

#include "engine/gpu/stopwatch.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

constexpr int kCores = 2;

/// A round of 2 ms of processor time: others held some of its cores.
Timing busy(double cores_left) { return {2.04e-3 / cores_left, 2.04e-3}; }
const std::vector<Timing> kFree{{1.03e-3, 2.02e-3},
                                {1.00e-3, 1.98e-3},
                                {1.01e-3, 2.00e-3},
                                {1.05e-3, 2.03e-3},
                                {1.02e-3, 2.00e-3}};

TEST(RateEstimates, OfAFreeMachineAreTheLeast) {
    const Estimate work = work_estimate(kFree, kCores);
    EXPECT_DOUBLE_EQ(work.value, 0.99e-3);
    EXPECT_NEAR(work.error, 1.01, 0.01);
}

TEST(RateEstimates, OfABusyMachineAreThoseOfAFreeOne) {
    const Estimate free = work_estimate(kFree, kCores);
    for (const double left : {0.3, 0.5, 1.0, 1.4}) {
        const std::vector<Timing> rounds{busy(left), busy(left * 1.1), busy(left), busy(0.9 * left),
                                         busy(left)};
        const Estimate work = work_estimate(rounds, kCores);
        EXPECT_NEAR(work.value / free.value, 1, 0.05) << left;
        EXPECT_GT(work.error, kDoubtfulError) << "it may have had other caches";
    }
}

TEST(RateEstimates, OfThreeRoundsWithAllCoresAreInNoDoubt) {
    // One core alone moves more bytes in its time than two of them each.
    std::vector<Timing> rounds(8, Timing{1.2e-3, 1.2e-3});
    rounds.insert(rounds.begin() + 4, {{1.0e-3, 1.98e-3}, {1.0e-3, 2.0e-3}, {1.1e-3, 2.1e-3}});
    const Estimate work = work_estimate(rounds, kCores);
    EXPECT_DOUBLE_EQ(work.value, 0.99e-3);
    EXPECT_LT(work.error, kDoubtfulError);
}

TEST(RateEstimates, OfADeviceOfItsOwnGoByItsClock) {
    const Estimate work = work_estimate({{3e-3, 0}, {2e-3, 0}, {2.2e-3, 0}}, 0);
    EXPECT_DOUBLE_EQ(work.value, 2e-3);
    EXPECT_DOUBLE_EQ(work.error, 1.1);
}

TEST(RateEstimates, OfNoTimesAreNone) {
    for (const auto& rounds : {std::vector<Timing>{}, std::vector<Timing>{{0, 0}, {-1, 1e-3}}}) {
        EXPECT_EQ(work_estimate(rounds, kCores).error, kNotMeasured);
        EXPECT_EQ(work_estimate(rounds, 0).error, kNotMeasured);
    }
    EXPECT_EQ(launch_estimate({}, 16, 0, kCores).error, kNotMeasured);
}

/// 16 launches of 30 us of work and so many to start each; 10 with hardly any work.
LaunchRound launches(const Timing& work, double microseconds) {
    return {work, {16 * (30 + microseconds) * 1e-6, 0}, {16 * 10e-6, 0}};
}
const Timing kAlone{1e-3, 1.95e-3}, kHeldUp{1.5e-3, 2e-3};

TEST(RateEstimates, OfLaunchesAreTheMiddleOnesBetweenWorkWithAllCores) {
    const std::vector<LaunchRound> free{launches(kAlone, 44), launches(kAlone, 47),
                                        launches(kAlone, 52), launches(kAlone, 46),
                                        launches(kAlone, 49)};
    const Estimate launch = launch_estimate(free, 16, 30e-6, kCores);
    EXPECT_NEAR(launch.value, 47e-6, 1e-9);
    EXPECT_LT(launch.error, 1.1);
    // Others keep cores awake, or hold them: such rounds lie beside work that shows it.
    std::vector<LaunchRound> half{launches(kHeldUp, 15), launches(kAlone, 46), launches(kAlone, 49),
                                  launches(kAlone, 47),  launches(kAlone, 50), launches(kAlone, 13),
                                  launches(kHeldUp, 400)};
    EXPECT_NEAR(launch_estimate(half, 16, 30e-6, kCores).value, 47e-6, 3e-6);
    half.insert(half.end(), 4, launches(kHeldUp, 15));
    EXPECT_EQ(launch_estimate(half, 16, 30e-6, kCores).error, kNotMeasured);
}

TEST(RateEstimates, OfLaunchesOfABusyMachineAreNone) {
    const std::vector<LaunchRound> rounds(9, launches(kHeldUp, 15));
    EXPECT_EQ(launch_estimate(rounds, 16, 30e-6, kCores).error, kNotMeasured);
}

TEST(RateEstimates, OfLaunchesOfADeviceOfItsOwnAreTheLeast) {
    const Estimate launch = launch_estimate(
        {launches({}, 17), launches({}, 15), launches({}, 16), launches({}, 19)}, 16, 30e-6, 0);
    EXPECT_NEAR(launch.value, 15e-6, 1e-9);
    EXPECT_NEAR(launch.error, 17.0 / 15, 0.01);
    EXPECT_NEAR(
        launch_estimate({launches({}, 4), launches({}, -3), launches({}, 5)}, 16, 30e-6, 0).value,
        10e-6, 1e-9)
        << "no less than with hardly any work";
}

TEST(CountedCores, AreThoseThatWorked) {
    const auto spin = [](double seconds) {
        timespec now{};
        const auto time = [&] {
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
            return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
        };
        for (const double end = time() + seconds; time() < end;) {
        }
    };
    EXPECT_EQ(count_cores([&] { spin(1e-3); }), 1);
}

}  // namespace
}  // namespace firn
