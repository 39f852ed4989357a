// Random programs by the oracle and by the kernel interpreter give what plain arrays give.
#include <gtest/gtest.h>

#include "tests/programs/check.h"

namespace firn::programs {
namespace {

constexpr Grammar kGrammar{.shaped_conditions = false, .fresh_numbers = false, .gates_of_integers = false};

TEST(RandomPrograms, ByTheOracle) { expect_programs([] { return Session::oracle(); }, 0, 500, kGrammar); }
TEST(RandomPrograms, ByTheKernelInterpreter) { expect_programs([] { return Session::interpreter(); }, 100000, 500, kGrammar); }
TEST(RandomPrograms, ByTheKernelInterpreterForAGpu) { expect_programs([] { return Session::interpreter(gpu_profile()); }, 200000, 500, kGrammar); }

}  // namespace
}  // namespace firn::programs
