// Random programs on the device give what plain arrays give.
#include <gtest/gtest.h>

#include "engine/firn/device_session.h"
#include "tests/device_programs/saving_executor.h"
#include "tests/programs/check.h"

namespace firn::programs {
namespace {

/// Few statements: what takes time is the driver that compiles their kernels.
constexpr Grammar kGrammar{.fewest = 1, .most = 3};

/// Elements that no kernel writes are no zeros that would be right by chance.
Session filling() { return device_session({.fill_memory = true}); }

TEST(DevicePrograms, OnTheDevice) { expect_programs(filling, 300000, 500, kGrammar); }

TEST(DevicePrograms, FromTheirBytes) {
    const auto reading = [] {
        return Session(SharedPtr<Executor>(std::make_shared<SavingExecutor>(filling())));
    };
    expect_programs(reading, 700000, 150, kGrammar);
}

// The flag of its inner loops alternates with a result: it lies in the caller's memory.
TEST(DevicePrograms, WithAFlagInTheMemoryOfAResult) {
    expect_programs(filling, 95004512, 1, kGrammar);
}

}  // namespace
}  // namespace firn::programs
