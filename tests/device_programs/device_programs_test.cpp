// Random programs on the device give what plain arrays give.
#include <gtest/gtest.h>

#include "engine/firn/device_session.h"
#include "tests/device_programs/saving_executor.h"
#include "tests/programs/check.h"

namespace firn::programs {
namespace {

/// Few statements: what takes time is the driver that compiles their kernels.
constexpr Grammar kGrammar{.fewest = 1, .most = 3};

TEST(DevicePrograms, OnTheDevice) {
    expect_programs([] { return device_session(); }, 300000, 500, kGrammar);
}

TEST(DevicePrograms, FromTheirBytes) {
    const auto reading = [] {
        return Session(SharedPtr<Executor>(std::make_shared<SavingExecutor>(device_session())));
    };
    expect_programs(reading, 700000, 150, kGrammar);
}

// The flag of its inner loops takes turns with a result: it lies in the caller's memory.
TEST(DevicePrograms, WithAFlagInTheMemoryOfAResult) {
    expect_programs([] { return device_session(); }, 95004512, 1, kGrammar);
}

}  // namespace
}  // namespace firn::programs
