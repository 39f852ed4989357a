// Tiles of narrow results: each invocation along the narrow side has one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/driver/compile.h"
#include "compiler/language.h"

namespace firn {
namespace {

/// Of the invocations that run at once, the share that has a tile of [4096, columns].
double busy_lanes(int64_t columns) {
    SessionScope scope(Session::interpreter());
    const auto f = compile([](Tensor x, Tensor y) { return matmul(x, y); },
                           {f32(4096, 64), f32(64, columns)});
    const KernelInfo& kernel = f.program()->kernels.at(0);
    int64_t tile = 1;
    if (const size_t at = kernel.mapping.find("tile "); at != std::string::npos)
        tile = std::stoll(kernel.mapping.substr(at + 5));
    const int64_t tiles = (columns + tile - 1) / tile, lanes = cpu_profile().subgroup_size;
    return double(tiles) / double((tiles + lanes - 1) / lanes * lanes);
}

TEST(NarrowTiles, NoLaneIsIdle) {
    for (int64_t columns : {16, 32, 48, 64, 128}) EXPECT_GE(busy_lanes(columns), 0.75) << columns;
}

}  // namespace
}  // namespace firn
