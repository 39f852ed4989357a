// Verdicts follow the profile's rates, and say why.
#include <gtest/gtest.h>

#include "compiler/explain.h"
#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// A blur of a value that costs something: recomputed at five places, or kept in memory.
Tensors blurred(const Tensors& a) {
    Tensor value = exp(a[0]) * tanh(a[0]);
    auto [i, j] = indices<2>(value.shape());
    return {value(i - 1, j) + value(i + 1, j) + value(i, j - 1) + value(i, j + 1)};
}

TEST(Verdict, AValueDearToRecomputeIsMaterialised) {
    auto program = program_for(cpu_profile(), blurred, {f32(512, 512)});
    EXPECT_EQ(verdict_of(*program, "Mul f32[512, 512]"), "materialised: dearer-recomputed");
}

TEST(Verdict, SlowMemoryMakesRecomputingCheaper) {
    DeviceProfile profile = cpu_profile();
    profile.bytes_per_second = 1e8;
    auto program = program_for(profile, blurred, {f32(512, 512)});
    EXPECT_EQ(verdict_of(*program, "Mul f32[512, 512]"), "inlined: cheaper-recomputed");
}

TEST(Verdict, DearLaunchesMakeRecomputingCheaper) {
    DeviceProfile profile = cpu_profile();
    profile.seconds_per_launch = 1;
    EXPECT_EQ(program_for(profile, blurred, {f32(512, 512)})->kernels.size(), 1u);
}

TEST(Verdict, AnExplanationShowsTheCompetingCostsAndTheLine) {
    auto program = program_for(cpu_profile(), blurred, {f32(512, 512)});
    std::string report = explain(*program);
    EXPECT_NE(report.find("materialised: dearer-recomputed"), std::string::npos) << report;
    EXPECT_NE(report.find("materialise "), std::string::npos) << report;
    EXPECT_NE(report.find("verdict_test.cpp:"), std::string::npos) << report;
}

TEST(Verdict, ARowsMaximumIsStaged) {
    auto shifted = [](const Tensors& a) { return Tensors{a[0] - max(a[0], {.axis = 1, .keep_dims = true})}; };
    auto program = program_for(cpu_profile(), shifted, {f32(4096, 512)});
    EXPECT_EQ(verdict_of(*program, "Reduce f32[4096]"), "staged: once-per-row");
}

}  // namespace
}  // namespace firn
