// Tiles of narrow results: each invocation along the narrow side has one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/driver/compile.h"
#include "compiler/language.h"

namespace firn {
namespace {

/// Returns the share of the invocations that run at once that have a tile of [4096, columns].
double busy_lanes(int64_t columns) {
    SessionScope scope(Session::interpreter());
    const auto f =
        compile([](Tensor x, Tensor y) { return matmul(x, y); }, {f32(4096, 64), f32(64, columns)});
    const KernelInfo& kernel = f.program()->kernels.at(0);
    int64_t tile = 1;
    if (const size_t at = kernel.mapping.find("tile "); at != std::string::npos)
        tile = std::stoll(kernel.mapping.substr(at + 5));
    const int64_t tiles = (columns + tile - 1) / tile, lanes = cpu_profile().subgroup_size;
    return double(tiles) / double((tiles + lanes - 1) / lanes * lanes);
}

std::string mapping_of(Tensor (*f)(Tensor, Tensor), const Shape& x, const Shape& y) {
    SessionScope scope(Session::interpreter());
    return compile(f, {f32(x[0], x[1]), f32(y[0], y[1])}).program()->kernels.at(0).mapping;
}
Tensor product(Tensor x, Tensor y) { return matmul(x, y); }
Tensor by_rows(Tensor x, Tensor y) { return matmul(x.T(), y); }

TEST(NarrowTiles, NoRowOfAGroupIsIdle) {
    // Ten columns in tiles of four.
    const std::string mapping = mapping_of(product, {1 << 14, 32}, {32, 10});
    EXPECT_NE(mapping.find("tile 8x4 group 64x3"), std::string::npos) << mapping;
}

TEST(NarrowTiles, RowsOfGroupsEndWithTheResult) {
    // 132 tiles below one another: groups of 16 rows would have 12 for nothing.
    const std::string mapping = mapping_of(product, {4 * 264, 64}, {64, 64});
    EXPECT_NE(mapping.find("group 8x12 "), std::string::npos) << mapping;
}

TEST(NarrowTiles, LanesShareTheTilesOfFewColumns) {
    const std::string of_eight = mapping_of(by_rows, {1 << 14, 32}, {1 << 14, 8}),
                      of_ten = mapping_of(by_rows, {1 << 14, 32}, {1 << 14, 10});
    EXPECT_EQ(of_eight.find("lanes 8 tile 8x4 "), 0u) << of_eight;
    EXPECT_EQ(of_ten.find("lanes 8 tile 5x8 "), 0u) << of_ten;
}

/// The group of `2 x + its neighbour above`, of 64 pictures of 24 rows with so many columns.
GroupShape group_of_rows(const DeviceProfile& profile, int64_t columns) {
    SessionScope scope(Session::interpreter(profile));
    const auto f = compile(
        [](Tensor x) {
            auto [b, i, j] = indices<3>(x.shape());
            return 2.0f * x + x(b, i - 1, j);
        },
        {f32(64, 24, columns)});
    return parse_mapping(f.program()->kernels.at(0).mapping)->group;
}

TEST(NarrowTiles, RowsOfFewTilesAreLaunchedSideBySide) {
    // Tiles of 4 columns: rows of 4, or 3 of them; 8 lanes take two rows, or three at a third.
    EXPECT_EQ(group_of_rows(cpu_profile(), 16), (GroupShape{4, 2}));
    EXPECT_EQ(group_of_rows(cpu_profile(), 64).x % 8, 0u);
    EXPECT_EQ(group_of_rows(gpu_profile(), 16).x % 32, 0u);
}

TEST(NarrowTiles, GroupsOfWholeRowsAreNoLargerThanTheDeviceAllows) {
    DeviceProfile small = cpu_profile();
    small.max_group_size = 32;
    for (const DeviceProfile& profile : {cpu_profile(), small})
        for (int64_t columns : {4, 12, 20, 52, 100, 1036, 2080, 4100}) {
            const GroupShape group = group_of_rows(profile, columns);
            EXPECT_LE(group.x * group.y, profile.max_group_size) << columns;
        }
}

/// Returns the mapping of `behind` on the product of 512 rows with 64 by 512.
std::string mapping_behind(const DeviceProfile& profile, Tensor (*behind)(const Tensor&)) {
    SessionScope scope(Session::interpreter(profile));
    const auto f = compile([&](Tensor x, Tensor y) { return behind(matmul(x, y)); },
                           {f32(512, 64), f32(64, 512)});
    return f.program()->kernels.at(0).mapping;
}

TEST(NarrowTiles, WhatStandsBehindALoopLeavesItsTileAsItIs) {
    const auto plain = [](const Tensor& y) { return y; };
    const auto much = [](const Tensor& y) {
        Tensor out = y;
        for (int k = 1; k <= 20; ++k) out = out * y + float(k);
        return out;
    };
    const std::string mapping = mapping_behind(cpu_profile(), plain);
    EXPECT_EQ(mapping.find("tile 8x8 "), 0u) << mapping;
    EXPECT_EQ(mapping_behind(cpu_profile(), much), mapping);
}

TEST(NarrowTiles, NoLaneIsIdle) {
    for (int64_t columns : {16, 32, 48, 64, 128}) EXPECT_GE(busy_lanes(columns), 0.75) << columns;
}

}  // namespace
}  // namespace firn
