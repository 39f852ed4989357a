// Grids of any number of ranges on three dimensions of groups.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/language.h"
#include "compiler/mapping/mapping.h"
#include "compiler/program/program.h"

namespace firn {
namespace {

/// The grid does not become flat: every range has an index of its own.
Tensor turned_around(const Tensor& x) { return permute(x, {3, 1, 0, 2}) * 2 + 1; }

std::vector<int> computed(const Session& session, const Shape& shape) {
    SessionScope scope(session);
    return turned_around(reshape(arange(element_count(shape).constant()), shape)).to_vector<int>();
}

TEST(MapGrid, MoreRangesThanDimensionsShareTheLast) {
    for (const Shape& shape : {Shape{3, 5, 20, 7}, Shape{1, 2, 33, 1}})
        EXPECT_EQ(computed(Session::interpreter(), shape), computed(Session::oracle(), shape));
}

TEST(MapGrid, MoreGroupsThanADimensionHasFoldIntoOneRow) {
    DeviceProfile profile = cpu_profile();
    profile.max_groups[0] = profile.max_groups[1] = 65535, profile.max_groups[2] = 1;
    for (const Shape& shape : {Shape{3, 5, 20, 7}, Shape{2, 150, 17, 301}})
        EXPECT_EQ(computed(Session::interpreter(profile), shape),
                  computed(Session::oracle(), shape));
}

TEST(MapGrid, GroupsAreNoLargerThanTheDeviceAllows) {
    for (DeviceProfile profile : {cpu_profile(), gpu_profile()}) {
        profile.max_group_size = 32;
        SessionScope scope(Session::interpreter(profile));
        auto f = compile(
            [](Tensor line, Tensor plane) {
                auto [i, j] = indices<2>(plane.shape());
                return std::tuple{exp(line), plane(i - 1, j) + plane(i, j + 1)};
            },
            {f32(1 << 20), f32(1024, 1024)});
        for (const KernelInfo& kernel : f.program()->kernels)
            EXPECT_EQ(kernel.group_size[0] * kernel.group_size[1] * kernel.group_size[2], 32u)
                << profile.name;
    }
}

TEST(MapGrid, StencilsOverManyTensorsHaveLowTiles) {
    const auto mapping = [](int tensors) {
        SessionScope scope(Session::interpreter(cpu_profile()));
        auto f = compile(
            [&](const std::vector<Tensor>& a) {
                auto [i, j] = indices<2>(a[0].shape());
                Tensor out = a[0](i - 1, j);
                for (const Tensor& x : a) out += x(i, j + 1) * x(i + 1, j);
                return std::vector<Tensor>{out};
            },
            std::vector<ArgSpec>(static_cast<size_t>(tensors), f32(1024, 1024)));
        return f.program()->kernels.at(0).mapping;
    };
    EXPECT_NE(mapping(1).find("tile 4x4"), std::string::npos);
    EXPECT_EQ(parse_mapping(mapping(6))->tile, std::vector<int64_t>{4});
}

TEST(MapGrid, LongBodiesLoadAndStoreInFours) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    auto f = compile(
        [](Tensor x, Tensor y) {
            auto [i, j] = indices<2>(x.shape());
            Tensor at = cast<int>(x), out = y;
            for (int tap = 0; tap < 40; ++tap) out += x(i, at + tap) * x(at - tap, j);
            return out;
        },
        {f32(512, 512), f32(512, 512)});
    EXPECT_EQ(parse_mapping(f.program()->kernels.at(0).mapping)->tile, std::vector<int64_t>{4});
}

TEST(MapGrid, ColumnsOfAnyNumberAreAddedUp) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    auto f = compile([](Tensor x) { return sum(x, {.axis = 0}); }, {f32("n", "m")});
    for (int64_t rows : {7, 67})
        for (int64_t columns : {8, 2053, 2052}) {
            std::vector<float> values;
            for (int64_t k = 0; k < rows * columns; ++k) values.push_back(float(k % columns));
            const std::vector<float> got = f(tensor(values, {rows, columns})).to_vector<float>();
            for (int64_t k = 0; k < columns; ++k)
                ASSERT_EQ(got[static_cast<size_t>(k)], float(rows * k)) << rows << " x " << columns;
        }
    EXPECT_NE(f.explain().find("strides 4"), std::string::npos);
}

TEST(MapGrid, StridesLoadNothingBehindTheEnd) {
    const Session session = Session::interpreter(cpu_profile());
    SessionScope scope(session);
    for (int64_t size : {65536 + 4, 65536 + 1027}) {
        const Tensor x = tensor(std::vector<float>(static_cast<size_t>(size), 2.0f));
        auto f = compile([](Tensor v) { return v * v + 1; }, {f32("n")});
        const std::vector<float> got = f(x).to_vector<float>();
        EXPECT_EQ(std::count(got.begin(), got.end(), 5.0f), size);
        EXPECT_NE(f.explain().find("strides 4"), std::string::npos);
    }
}

TEST(MapGrid, StridesAlongOneAxisLoadNothingBehindTheEndOfAnother) {
    const auto function = [](Tensor x) { return quantile(x, tensor({0.5f}), {.axis = 1}); };
    const auto medians = [&](const Session& session) {
        SessionScope scope(session);
        auto f = compile(function, {f32(37, 50)});
        if (session.compiles()) {
            EXPECT_NE(f.explain().find("strides 3"), std::string::npos);
        }
        return Tensor(f(reshape(arange(37 * 50) * 7 % 101, {37, 50}).as(f32))).to_vector<float>();
    };
    EXPECT_EQ(medians(Session::interpreter(native_profile(512))), medians(Session::oracle()));
}

}  // namespace
}  // namespace firn
