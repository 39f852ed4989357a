// A line at the end of every test program: what its compiles took beside the work of their values.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/excess_sum.h"

namespace firn {
namespace {

class ExcessReport : public testing::Environment {
    void SetUp() override { count_excess(); }
    void TearDown() override {
        const ExcessCensus census = counted_excess();
        if (census.kernels > 0) std::printf("[ EXCESS   ] %s\n", text(census).c_str());
    }
};

const testing::Environment* const report = testing::AddGlobalTestEnvironment(new ExcessReport);

}  // namespace
}  // namespace firn
