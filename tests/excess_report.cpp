// A line at the end of every test program: what its compiles took beside the work of their values.
#include <gtest/gtest.h>

#include <cstdio>

#include "compiler/driver/excess_work.h"

namespace firn {
namespace {

class ExcessReport : public testing::Environment {
    void TearDown() override {
        const ExcessCensus census = excess_census();
        if (census.kernels > 0) std::printf("[ EXCESS   ] %s\n", text(census).c_str());
    }
};

const testing::Environment* const report = testing::AddGlobalTestEnvironment(new ExcessReport);

}  // namespace
}  // namespace firn
