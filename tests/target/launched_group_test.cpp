// Groups whose lanes exchange values are launched as one row.
#include <gtest/gtest.h>

#include "compiler/language.h"
#include "compiler/program/program.h"
#include "tests/emitting.h"

namespace firn {
namespace {

using GroupSize = std::array<uint32_t, 3>;

KernelInfo sum_of_lanes(const std::vector<int>& group) {
    auto f = compile(
        [&](Tensor x) {
            Tensor out = zeros(x.shape(), i32);
            KernelOptions options;
            options.group = group;
            kernel(x.shape(), options,
                   [&](Tensor i, Tensor j) { out(i, j) = subgroup_add(x(i, j)); });
            return out;
        },
        {i32(16, 16)});
    return f.program()->kernels.at(0);
}

TEST(LaunchedGroup, OfLanesThatExchangeValuesIsOneRow) {
    SessionScope scope(emitting());
    for (const std::vector<int>& group : {std::vector{4, 4}, {4, 8}, {16, 2}}) {
        const KernelInfo info = sum_of_lanes(group);
        const auto members = static_cast<uint32_t>(group[0] * group[1]);
        EXPECT_EQ(info.group_size, (GroupSize{members, 1, 1}));
        EXPECT_NE(info.artefact.text.find("local_size_x = " + std::to_string(members) +
                                          ", local_size_y = 1, local_size_z = 1"),
                  std::string::npos);
        EXPECT_EQ(info.artefact.text.find("gl_LocalInvocationID"), std::string::npos);
    }
}

TEST(LaunchedGroup, OfOthersIsWhatItsUserSaid) {
    SessionScope scope(emitting());
    auto f = compile(
        [](Tensor x) {
            Tensor out = x;
            kernel({16, 16}, {.group = {4, 8}}, [&](Tensor i, Tensor j) { out(i, j) = x(j, i); });
            return out;
        },
        {i32(16, 16)});
    EXPECT_EQ(f.program()->kernels.at(0).group_size, (GroupSize{8, 4, 1}));
}

/// A kernel by hand that reads its transpose, in groups of 4 rows and 2 columns.
KernelInfo of_narrow_group(const DeviceProfile& profile) {
    SessionScope scope(emitting(profile));
    auto f = compile(
        [](Tensor x) {
            Tensor out = x;
            kernel({16, 16}, {.group = {4, 2}}, [&](Tensor i, Tensor j) { out(i, j) = x(j, i); });
            return out;
        },
        {i32(16, 16)});
    return f.program()->kernels.at(0);
}

TEST(LaunchedGroup, WhoseRowsLeaveLanesOfACpuDriverIdleIsOneRow) {
    const KernelInfo narrow = of_narrow_group(cpu_profile());
    EXPECT_EQ(narrow.group_size, (GroupSize{8, 1, 1}));
    EXPECT_NE(narrow.artefact.text.find("gl_LocalInvocationIndex % 2u"), std::string::npos);
    EXPECT_NE(narrow.artefact.text.find("gl_LocalInvocationIndex / 2u"), std::string::npos);
    EXPECT_EQ(of_narrow_group(gpu_profile()).group_size, (GroupSize{2, 4, 1}));
}

TEST(LaunchedGroup, OfLoadsThatAreHandedRoundIsOneRow) {
    SessionScope scope(emitting());
    auto f =
        compile([](Tensor a, Tensor b) { return matmul(a, b); }, {f32(512, 512), f32(512, 512)});
    int handed = 0;
    for (const KernelInfo& kernel : f.program()->kernels) {
        if (kernel.artefact.text.find("subgroupShuffle(") == std::string::npos) continue;
        ++handed;
        EXPECT_EQ(kernel.group_size[1], 1u);
        EXPECT_NE(kernel.artefact.text.find("gl_SubgroupID"), std::string::npos);
    }
    EXPECT_GT(handed, 0);
}

TEST(LaunchedGroup, OfARowThatIsTooLongIsRefused) {
    DeviceProfile profile = cpu_profile();
    profile.max_group_extent[0] = 64;
    SessionScope scope(emitting(profile));
    try {
        sum_of_lanes({16, 8});
        FAIL();
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what())
                      .find("128 wide along one axis and this device allows "
                            "64: where lanes exchange values"),
                  std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace firn
