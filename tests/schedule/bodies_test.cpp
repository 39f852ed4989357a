// Kernels are no longer than the driver's compiler bears.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

constexpr int kSine = 60;  // simple operations of a body

DeviceProfile patient(DeviceProfile profile) {
    profile.max_body_operations = 1 << 20;
    return profile;
}

int count_sines(const KernelInfo& kernel) {
    const std::string body = kernel.artefact.text.substr(kernel.artefact.text.find("void main"));
    int count = 0;
    for (size_t at = body.find("firn_sin("); at != std::string::npos;
         at = body.find("firn_sin(", at + 1))
        ++count;
    return count;
}

int most_sines(const Program& program) {
    int most = 0;
    for (const KernelInfo& kernel : program.kernels) most = std::max(most, count_sines(kernel));
    return most;
}

Tensor sines(Tensor x, int count) {
    for (int k = 0; k < count; ++k) x = sin(x) + 0.5f * x;
    return x;
}

TEST(Bodies, AreCutWhereTheyAreLong) {
    auto chain = [](const std::vector<Tensor>& x) { return sines(x[0], 500); };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const auto program = program_for(profile, chain, {f32(4096)});
        EXPECT_LE(kSine * most_sines(*program), static_cast<int>(profile.max_body_operations))
            << profile.name;
        EXPECT_EQ(program_for(patient(profile), chain, {f32(4096)})->kernels.size(), 1u)
            << profile.name;
    }
}

TEST(Bodies, KeepNothingThatALoadWouldNotMakeShorter) {
    const auto far = [](const std::vector<Tensor>& x) {
        auto [i] = indices<1>(x[0].shape());
        Tensor place = 2 * i, all = sines(x[0], 150);
        for (int k = 0; k < 3; ++k) all = cast<float>(place + k) + all;
        return all;
    };
    const auto program = program_for(cpu_profile(), far, {f32(4096)});
    EXPECT_GT(program->kernels.size(), 1u);
    for (const VerdictInfo& v : program->verdicts)
        EXPECT_FALSE(v.reason == "kernel-too-large" && v.value == "Cast f32[4096]");
}

TEST(Bodies, HaveFewerCopiesWhereTheyAreLong) {
    auto chain = [](const std::vector<Tensor>& x) { return sines(x[0], 50); };
    const auto program = program_for(cpu_profile(), chain, {f32(1 << 20)});
    EXPECT_EQ(program->kernels.size(), 1u);
    EXPECT_EQ(most_sines(*program), 50);
    EXPECT_GE(most_sines(*program_for(patient(cpu_profile()), chain, {f32(1 << 20)})), 200);
}

TEST(Bodies, HaveFewerIterationsWrittenOutWhereTheyAreLong) {
    auto iterations = [](const std::vector<Tensor>& args) {
        Tensor x = args[0];
        for (Tensor t : loop(64)) x = sines(x + t.as(f32), 20);
        return x;
    };
    const DeviceProfile profile = cpu_profile();
    const int sines = most_sines(*program_for(profile, iterations, {f32(1001)}));
    EXPECT_LE(kSine * sines, static_cast<int>(profile.max_body_operations));
    EXPECT_GT(most_sines(*program_for(patient(profile), iterations, {f32(1001)})), sines);
}

int count_loops(const KernelInfo& kernel) {
    int count = 0;
    for (size_t at = kernel.artefact.text.find("for ("); at != std::string::npos;
         at = kernel.artefact.text.find("for (", at + 1))
        ++count;
    return count;
}

TEST(Bodies, AreCutWhereLoopsStandInARow) {
    auto loops = [](const std::vector<Tensor>& args) {
        Tensor x = args[0];
        for (int k = 0; k < 100; ++k) {
            Tensor y = x;
            for (Tensor t : loop(args[1])) y = x / (y + t);
            x = wrap(args[0])(y);
        }
        return x;
    };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const auto program = program_for(profile, loops, {i32(8), i32()});
        for (const KernelInfo& kernel : program->kernels)  // the remainder is a loop too
            EXPECT_LE(count_loops(kernel), 2 * 32) << profile.name;
    }
}

TEST(Bodies, HaveNoShortLoopsHoweverLongTheyAre) {
    auto sums = [](const std::vector<Tensor>& args) {
        Tensor x = args[0];
        for (int k = 0; k < 80; ++k)
            x = sum(wrap(args[0])(reshape(x / 3, {8, 1}) + arange(5)), {1});
        return x;
    };
    const auto program = program_for(cpu_profile(), sums, {i32(8)});
    for (const KernelInfo& kernel : program->kernels) EXPECT_EQ(count_loops(kernel), 0);
}

}  // namespace
}  // namespace firn
