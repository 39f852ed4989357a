// The comparators of the random tests can fail.
#include "tests/ir/near.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/ir/run_random.h"

namespace firn {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity(),
                 kNothing = std::numeric_limits<double>::quiet_NaN();

TEST(Near, IsAbsoluteBelowOneAndRelativeAbove) {
    EXPECT_TRUE(near(0.001, 0.0, 0.002));
    EXPECT_FALSE(near(0.003, 0.0, 0.002));
    EXPECT_TRUE(near(1001, 1000, 0.002));
    EXPECT_FALSE(near(1003, 1000, 0.002));
}

TEST(Near, AnInfinityIsNearItselfAlone) {
    EXPECT_TRUE(near(kFar, kFar, 1e-5));
    EXPECT_TRUE(near(-kFar, -kFar, 1e-5));
    for (const double other : {0.0, 1e30, -kFar, kNothing}) {
        EXPECT_FALSE(near(other, kFar, 1e-5)) << other;
        EXPECT_FALSE(near(kFar, other, 1e-5)) << other;
    }
}

TEST(Near, ANanIsNearNanAlone) {
    EXPECT_TRUE(near(kNothing, kNothing, 1e-5));
    for (const double other : {0.0, 1e30, kFar}) {
        EXPECT_FALSE(near(other, kNothing, 1e-5)) << other;
        EXPECT_FALSE(near(kNothing, other, 1e-5)) << other;
    }
}

TEST(Near, ScalarsAreFloatsOfOneType) {
    EXPECT_TRUE(near(scalar_float(1.000001), scalar_float(1), 1e-5));
    EXPECT_FALSE(near(scalar_float(7), scalar_float(kFar), 1e-5));
    EXPECT_FALSE(near(scalar_float(1, f64), scalar_float(1), 1e-5));
    EXPECT_FALSE(near(scalar_int(1), scalar_int(1), 1e-5));
}

}  // namespace
}  // namespace firn
