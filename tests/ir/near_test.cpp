// The comparators of the random tests can fail.
#include "tests/ir/near.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/ir/run_random.h"

namespace firn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Near, IsAbsoluteBelowOneAndRelativeAbove) {
    EXPECT_TRUE(near(0.001, 0.0, 0.002));
    EXPECT_FALSE(near(0.003, 0.0, 0.002));
    EXPECT_TRUE(near(1001, 1000, 0.002));
    EXPECT_FALSE(near(1003, 1000, 0.002));
}

TEST(Near, AnInfinityIsNearItselfAlone) {
    EXPECT_TRUE(near(kInf, kInf, 1e-5));
    EXPECT_TRUE(near(-kInf, -kInf, 1e-5));
    for (const double other : {0.0, 1e30, -kInf, kNan}) {
        EXPECT_FALSE(near(other, kInf, 1e-5)) << other;
        EXPECT_FALSE(near(kInf, other, 1e-5)) << other;
    }
}

TEST(Near, ANanIsNearNanAlone) {
    EXPECT_TRUE(near(kNan, kNan, 1e-5));
    for (const double other : {0.0, 1e30, kInf}) {
        EXPECT_FALSE(near(other, kNan, 1e-5)) << other;
        EXPECT_FALSE(near(kNan, other, 1e-5)) << other;
    }
}

TEST(Near, ScalarsAreFloatsOfOneType) {
    EXPECT_TRUE(near(scalar_float(1.000001), scalar_float(1), 1e-5));
    EXPECT_FALSE(near(scalar_float(7), scalar_float(kInf), 1e-5));
    EXPECT_FALSE(near(scalar_float(1, f64), scalar_float(1), 1e-5));
    EXPECT_FALSE(near(scalar_int(1), scalar_int(1), 1e-5));
}

}  // namespace
}  // namespace firn
