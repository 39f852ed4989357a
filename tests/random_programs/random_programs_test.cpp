// Random programs by the oracle and by the kernel interpreter give what plain arrays give.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/mapping/passes.h"
#include "tests/programs/check.h"
#include "tests/random_programs/other_kernels.h"

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

/// The rows of the table of passes from `map` on, and what stands before them.
std::vector<std::string> passes() {
    std::vector<std::string> out{"ready"};
    for (const KernelPass& pass : kernel_passes())
        if (pass.takes >= KernelStage::Ready &&
            std::find(out.begin(), out.end(), pass.name) == out.end())
            out.push_back(pass.name);
    return out;
}
class KernelPasses : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Rows, KernelPasses, testing::ValuesIn(passes()),
                         [](const auto& row) { return row.param; });

TEST_P(KernelPasses, LeaveWhatKernelsDo) {
    expect_programs([] { return Session(make_pass_executor(cpu_profile(), GetParam())); }, 500000,
                    60);
    expect_programs([] { return Session(make_pass_executor(gpu_profile(), GetParam())); }, 600000,
                    60);
}

}  // namespace
}  // namespace firn::programs
