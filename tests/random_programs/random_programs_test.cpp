// Random programs by the oracle and by the kernel interpreter give what plain arrays give.
#include <gtest/gtest.h>

#include "tests/programs/check.h"

namespace firn::programs {
namespace {

TEST(RandomPrograms, ByTheOracle) { expect_programs([] { return Session::oracle(); }, 0, 500); }
TEST(RandomPrograms, ByTheKernelInterpreter) { expect_programs([] { return Session::interpreter(); }, 100000, 500); }
TEST(RandomPrograms, ByTheKernelInterpreterForAGpu) { expect_programs([] { return Session::interpreter(gpu_profile()); }, 200000, 500); }

}  // namespace
}  // namespace firn::programs
