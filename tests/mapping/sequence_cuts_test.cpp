// Cuts of lists of steps into kernels that one group runs.
#include "compiler/mapping/list/sequence_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace firn {
namespace {

using Ends = std::vector<size_t>;

/// A kernel that one group takes so much longer for than all cores, in launches.
CutStep kernel_of(double longer) { return {true, 1, longer}; }
CutStep alone() { return {false, 1, 0}; }

TEST(SequenceCuts, SmallKernelsStandInOne) {
    const SequenceCuts cuts =
        cheapest_cuts(std::vector{kernel_of(0.1), kernel_of(0.2), kernel_of(0.3)}, 1);
    EXPECT_EQ(cuts.ends, Ends{3});
    EXPECT_DOUBLE_EQ(cuts.seconds, 1.6);
}

TEST(SequenceCuts, BetweenOthersALongKernelSavesTwoLaunches) {
    EXPECT_EQ(cheapest_cuts(std::vector{kernel_of(0), kernel_of(1.8), kernel_of(0)}, 1).ends,
              Ends{3});
    EXPECT_EQ(cheapest_cuts(std::vector{kernel_of(0), kernel_of(2.2), kernel_of(0)}, 1).ends,
              (Ends{1, 2, 3}));
    EXPECT_EQ(cheapest_cuts(std::vector{kernel_of(0), kernel_of(0), kernel_of(1.8)}, 1).ends,
              (Ends{2, 3}));
}

TEST(SequenceCuts, TwoThatTakeLongerThanALaunchTogetherStayApart) {
    EXPECT_EQ(cheapest_cuts(std::vector{kernel_of(0.7), kernel_of(0.7)}, 1).ends, (Ends{1, 2}));
    EXPECT_EQ(cheapest_cuts(std::vector{kernel_of(0.4), kernel_of(0.5)}, 1).ends, Ends{2});
}

TEST(SequenceCuts, WhatMayNotJoinParts) {
    EXPECT_EQ(cheapest_cuts(std::vector{kernel_of(0), kernel_of(0), alone(), kernel_of(0)}, 1).ends,
              (Ends{2, 3, 4}));
    EXPECT_EQ(cheapest_cuts({}, 1).ends, Ends{});
}

/// Returns the cost of the steps if a kernel begins at those whose bit is set.
double cost_of(const std::vector<CutStep>& steps, unsigned begins) {
    double all = 0;
    for (size_t k = 0; k < steps.size();) {
        size_t end = k + 1;
        while (end < steps.size() && !(begins >> end & 1)) ++end;
        double joined = 1;
        bool may_join = true;
        for (size_t s = k; s < end; ++s)
            joined += steps[s].joined, may_join = may_join && steps[s].may_join;
        all += end - k == 1 ? std::min(steps[k].alone, may_join ? joined : 1e9)
                            : (may_join ? joined : 1e9);
        k = end;
    }
    return all;
}

TEST(SequenceCuts, NoOtherCutsCostLess) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> longer(0, 2.5);
    for (int round = 0; round < 200; ++round) {
        std::vector<CutStep> steps(1 + random() % 8);
        for (CutStep& step : steps) {
            step = random() % 5 == 0 ? alone() : kernel_of(longer(random));
            if (random() % 4 == 0) step.alone += step.joined;  // a loop
        }
        double least = 1e9;
        for (unsigned begins = 0; begins < 1u << steps.size(); ++begins)
            least = std::min(least, cost_of(steps, begins));
        const SequenceCuts cuts = cheapest_cuts(steps, 1);
        EXPECT_NEAR(cuts.seconds, least, 1e-9);
        unsigned begins = 0;
        for (size_t end : cuts.ends) begins |= 1u << end;
        EXPECT_NEAR(cost_of(steps, begins), least, 1e-9);
    }
}

}  // namespace
}  // namespace firn
