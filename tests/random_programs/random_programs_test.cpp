// Random programs by the oracle and by the kernel interpreter give what plain arrays give.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/driver/pass_list.h"
#include "compiler/frontend/cpu_session.h"
#include "compiler/frontend/record.h"
#include "compiler/language.h"
#include "compiler/mapping/kernel_passes.h"
#include "compiler/target/native/llvm.h"
#include "tests/programs/check.h"
#include "tests/random_programs/ahead_executor.h"
#include "tests/random_programs/other_kernels.h"

namespace firn::programs {
namespace {

TEST(RandomPrograms, ByTheOracle) {
    expect_programs([] { return Session::oracle(); }, 0, 500);
}
TEST(RandomPrograms, ByTheKernelInterpreter) {
    expect_programs([] { return Session::interpreter(); }, 100000, 300);
}
TEST(RandomPrograms, ByTheKernelInterpreterForAGpu) {
    expect_programs([] { return Session::interpreter(gpu_profile()); }, 200000, 300);
}
TEST(RandomPrograms, ByNativeCode) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    expect_programs([] { return cpu_session(); }, 1200000, 120);
}
TEST(RandomPrograms, ByNativeCodeThatChecksItsAccesses) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    const auto checked = [] {
        const Session session = cpu_session();
        session.check_promises(true);
        return session;
    };
    expect_programs(checked, 1400000, 60);
}
TEST(RandomPrograms, ByObjectFiles) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    if (const std::string why = why_no_machine(kThisMachine); !why.empty()) GTEST_SKIP() << why;
    expect_programs([] { return Session(make_ahead_executor(kThisMachine)); }, 1300000, 40);
}
TEST(RandomPrograms, ByObjectFilesForArm) {
    if (const std::string why = why_no_llvm(); !why.empty()) GTEST_SKIP() << why;
    if (const std::string why = why_no_machine(kArmMachine); !why.empty()) GTEST_SKIP() << why;
    expect_programs([] { return Session(make_ahead_executor(kArmMachine)); }, 1400000, 40);
}
/// Other verdicts: what saves little is worth a kernel.
TEST(RandomPrograms, WhereLaunchesCostNothing) {
    DeviceProfile profile = cpu_profile();
    profile.seconds_per_launch = 0;
    expect_programs([=] { return Session::interpreter(profile); }, 700000, 120);
}
TEST(RandomPrograms, ByTheTextsOfTheirKernels) {
    expect_programs([] { return Session(make_text_executor(cpu_profile())); }, 300000, 120);
}
TEST(RandomPrograms, ByTheTextsOfTheirKernelsForAGpu) {
    expect_programs([] { return Session(make_text_executor(gpu_profile())); }, 400000, 120);
}

/// The rows of the table of passes from `map` on, and what stands before them.
std::vector<std::string> passes() {
    std::vector<std::string> out{"ready"};
    for (const KernelPass& pass : kernel_passes())
        if (pass.takes >= KernelStage::Ready &&
            std::find(out.begin(), out.end(), pass.info.name) == out.end())
            out.push_back(pass.info.name);
    return out;
}
class KernelPasses : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Rows, KernelPasses, testing::ValuesIn(passes()),
                         [](const auto& row) { return row.param; });

TEST_P(KernelPasses, LeaveWhatKernelsDo) {
    expect_programs([] { return Session(make_pass_executor(cpu_profile(), GetParam())); }, 500000,
                    25);
    expect_programs([] { return Session(make_pass_executor(gpu_profile(), GetParam())); }, 600000,
                    25);
}

class OptionalPasses : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Rows, OptionalPasses, testing::ValuesIn(optional_passes()),
                         [](const auto& row) {
                             std::string name = row.param;
                             std::replace(name.begin(), name.end(), ':', '_');
                             return name;
                         });

Session without(const SkippedPasses& passes, const DeviceProfile& profile) {
    const Session session = Session::interpreter(profile);
    session.state()->skipped = passes;
    return session;
}
TEST_P(OptionalPasses, MayBeLeftOut) {
    expect_programs([] { return without({GetParam()}, cpu_profile()); }, 800000, 8);
    expect_programs([] { return without({GetParam()}, gpu_profile()); }, 900000, 8);
}
TEST(RandomPrograms, ByThePassesThatProgramsNeed) {
    expect_programs([] { return without(optional_passes(), cpu_profile()); }, 1000000, 60);
    expect_programs([] { return without(optional_passes(), gpu_profile()); }, 1100000, 60);
}

/// A feature that random programs lack: lanes that shuffle their loads, and some of which are not
/// all used.
std::vector<float> of_pairs(const Session& session, const std::vector<float>& values) {
    SessionScope scope(session);
    const auto pairs = compile(
        [](Tensor x, Tensor others, Tensor apart) {
            Tensor near = zeros({x.size(0)}), far = near;
            for (Tensor j : loop(others.size(0))) {
                Tensor away = abs(x - others(j));
                near += away * others(j), far += away * apart(8 * j);
            }
            return near + 64.0f * far;
        },
        {f32(1033), f32(96), f32(768)});
    const auto first = [&](int count) {
        return tensor(std::vector<float>(values.begin(), values.begin() + count));
    };
    return Tensor(pairs(tensor(values), first(96), first(768))).to_vector<float>();
}
TEST_P(KernelPasses, LeaveWhatPairsDo) {
    std::vector<float> values;
    for (int k = 0; k < 1033; ++k) values.push_back(float((k * 7 + k / 5) % 11 - 5));
    const std::vector<float> expected = of_pairs(Session::oracle(), values);
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_EQ(of_pairs(Session(make_pass_executor(profile, GetParam())), values), expected);
}

}  // namespace
}  // namespace firn::programs
