// Random programs by the oracle and by the kernel interpreter give what plain arrays give.
#include <gtest/gtest.h>

#include "tests/programs/check.h"
#include "tests/random_programs/text_executor.h"

namespace firn::programs {
namespace {

TEST(RandomPrograms, ByTheOracle) {
    expect_programs([] { return Session::oracle(); }, 0, 500);
}
TEST(RandomPrograms, ByTheKernelInterpreter) {
    expect_programs([] { return Session::interpreter(); }, 100000, 500);
}
TEST(RandomPrograms, ByTheKernelInterpreterForAGpu) {
    expect_programs([] { return Session::interpreter(gpu_profile()); }, 200000, 500);
}
TEST(RandomPrograms, ByTheTextsOfTheirKernels) {
    expect_programs([] { return Session(make_text_executor(cpu_profile())); }, 300000, 200);
}
TEST(RandomPrograms, ByTheTextsOfTheirKernelsForAGpu) {
    expect_programs([] { return Session(make_text_executor(gpu_profile())); }, 400000, 200);
}

}  // namespace
}  // namespace firn::programs
