// Parameters, statistics and device profiles.
#include "compiler/program/program.h"

#include <gtest/gtest.h>

#include "compiler/base/error.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

TEST(Params, FourBytesEach) {
    EXPECT_EQ(param_offsets({i32, f32, boolean, u8}), (std::vector<uint32_t>{0, 4, 8, 12, 16}));
}
TEST(Params, WideOnesAreAligned) {
    EXPECT_EQ(param_offsets({i32, f64, i32}), (std::vector<uint32_t>{0, 8, 16, 20}));
}
TEST(Params, NoneTakeNothing) { EXPECT_EQ(param_offsets({}), (std::vector<uint32_t>{0})); }
TEST(Params, ValuesComeFromSizesAndScalars) {
    DispatchStep step;
    step.params = {{i32, 2 * Size::symbol("n"), -1}, {f32, 0, 1}};
    EXPECT_EQ(param_values(step, {{"n", 5}}, {{}, scalar_float(0.5)}),
              (std::vector<Scalar>{scalar_int(10), scalar_float(0.5)}));
}
TEST(Params, SizeBeyondTheTypeIsRefused) {
    DispatchStep step;
    step.params = {{i32, Size::symbol("n") * Size::symbol("m"), -1}};
    EXPECT_EQ(message<UserError>([&] {
                  param_values(step, {{"n", 65536}, {"m", 65536}}, {});
              }),
              "a kernel's parameter: size m*n is 4294967296 with m = 65536, n = 65536, and kernels "
              "count with 32 bits (to 2147483647); use smaller dimensions, or do it in parts");
}

TEST(Buffers, TailsArePaddedTo16) {
    BufferInfo buffer;
    buffer.elements = 5;
    EXPECT_EQ(buffer.bytes(), Size(32));
}

Program two_kernels() {
    Program p;
    int a = add_argument(p, "x", {Size::symbol("n")}), t = add_buffer(p, Size::symbol("n")),
        r = add_result(p, {Size::symbol("n")});
    Step first = dispatch(p, {a}, {t}), second = dispatch(p, {t}, {r});
    Work work{3 * Size::symbol("n"), 4 * Size::symbol("n"), 8 * Size::symbol("n")};
    std::get<DispatchStep>(first.step).work = work;
    std::get<DispatchStep>(second.step).work = work;
    p.kernels[0].back_edges = 5;
    p.kernels[0].guards = 2;
    p.kernels[1].back_edges = 3;
    p.kernels[1].guards = 1;
    p.steps = {first, repeat(4, {second})};
    return p;
}

TEST(Stats, CountWhatRuns) {
    ProgramStats counted = stats(two_kernels(), {{"n", 16}});
    EXPECT_EQ(counted.kernels, 2);
    EXPECT_EQ(counted.dispatches, 5);
    EXPECT_EQ(counted.operations, 5 * 48);
    EXPECT_EQ(counted.bytes_read, 5 * 64);
    EXPECT_EQ(counted.bytes_written, 5 * 128);
    EXPECT_EQ(counted.barriers, 4);
    EXPECT_EQ(counted.guards, 3);
    EXPECT_EQ(counted.back_edges, 5);
    EXPECT_EQ(counted.peak_bytes, 64);
}
TEST(Stats, UnknownBackEdgesStayUnknown) {
    Program p = two_kernels();
    p.kernels[0].back_edges = -1;
    EXPECT_EQ(stats(p, {{"n", 16}}).back_edges, -1);
}
TEST(Stats, CopiesMoveBytes) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4);
    p.steps = {copy(a, b)};
    EXPECT_EQ(stats(p, {}).bytes_read, 16);
    EXPECT_EQ(stats(p, {}).dispatches, 0);
}

TEST(Profiles, ClassesDiffer) {
    EXPECT_EQ(cpu_profile().device_class, DeviceClass::CpuDriver);
    EXPECT_EQ(gpu_profile().device_class, DeviceClass::Gpu);
    EXPECT_FALSE(gpu_profile().view_loads);
}
TEST(Profiles, KeyIgnoresTheName) {
    DeviceProfile profile = cpu_profile();
    profile.name = "another";
    EXPECT_EQ(cache_key(profile), cache_key(cpu_profile()));
}
TEST(Profiles, KeyIgnoresWhereRatesComeFromAndTheirTextSaysIt) {
    DeviceProfile profile = gpu_profile();
    EXPECT_EQ(rates_text(profile), "350 GB/s, 8000 GFLOP/s, 5 us per launch, by its class");
    profile.rates_measured = true;
    EXPECT_EQ(rates_text(profile),
              "350 GB/s, 8000 GFLOP/s, 5 us per launch, measured in steps of two");
    EXPECT_EQ(cache_key(profile), cache_key(gpu_profile()));
}
TEST(Profiles, KeySeesEveryRateAndLimit) {
    DeviceProfile profile = cpu_profile();
    profile.seconds_per_load *= 1 + 1e-15;
    EXPECT_NE(cache_key(profile), cache_key(cpu_profile()));
    profile = cpu_profile();
    profile.max_group_extent[2] = 1;
    EXPECT_NE(cache_key(profile), cache_key(cpu_profile()));
    EXPECT_NE(cache_key(gpu_profile()), cache_key(cpu_profile()));
}

}  // namespace
}  // namespace firn
