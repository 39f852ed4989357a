// Kernels by hand: their stores, and the memory that groups share.
#include "tests/frontend/kernels.h"

namespace firn {
namespace {

class StoringKernels : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Executors, StoringKernels, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

TEST_P(StoringKernels, EachInvocationStoresAtItsIndex) {
    Tensor c = full({3, 5}, -1);
    kernel({3, 5}, [&](Tensor i, Tensor j) { c(i, j) = i * 10 + j; });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24}));
}

TEST_P(StoringKernels, ThreeAxes) {
    Tensor c = zeros({2, 3, 2}, i32);
    kernel({2, 3, 2}, [&](Tensor i, Tensor j, Tensor k) { c(i, j, k) = i * 100 + j * 10 + k; });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}));
}

TEST_P(StoringKernels, WholeGroupsRunAndWhatIsOutsideIsDropped) {
    Tensor c = zeros({5}, i32), count = zeros({1}, i32);
    kernel({5}, {.group = {4}}, [&](Tensor i) {
        c(i) = local_index(0) * 10 + group_index(0);
        atomic_add(count(0), 1);
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, 10, 20, 30, 1}));
    EXPECT_EQ(count.item<int>(), 8);
}

TEST_P(StoringKernels, WithoutAGroupExactlyTheShapeRuns) {
    Tensor count = zeros({1}, i32);
    kernel({70}, [&](Tensor) { atomic_add(count(0), 1); });
    EXPECT_EQ(count.item<int>(), 70);
}

TEST_P(StoringKernels, OldVersionsStayAsTheyWere) {
    Tensor c = arange(4);
    Tensor old = c;
    kernel({4}, [&](Tensor i) { c(i) = c(i) * 2; });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, 2, 4, 6}));
    EXPECT_EQ(old.to_vector<int>(), (Ints{0, 1, 2, 3}));
}

TEST_P(StoringKernels, ReadingGivesTheVersionAtEntry) {
    Tensor c = arange(5);
    kernel({5}, [&](Tensor i) { c(i) = c(i - 1); });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, 0, 1, 2, 3}));
}

TEST_P(StoringKernels, OneReadsWhatAnotherMade) {
    Tensor a = zeros({4}, i32), b = zeros({4}, i32);
    auto turned = [](Tensor& to, const Tensor& from) {
        kernel({4}, {.group = {2}}, [&](Tensor i) {
            Shared s = shared(i32, 2);
            s(local_index(0)) = from(i);
            barrier();
            to(i) = s(1 - local_index(0)) * 10;
        });
    };
    turned(a, arange(4));
    turned(b, a);
    EXPECT_EQ(b.to_vector<int>(), (Ints{0, 100, 200, 300}));
}

TEST_P(StoringKernels, AnInvocationReadsWhatItStored) {
    Tensor c = arange(5);
    kernel({5}, [&](Tensor i) {
        c(i) = c(i) + 10;
        c(i) = c(i) * 2;
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{20, 22, 24, 26, 28}));
}

TEST_P(StoringKernels, StoresUnderABranch) {
    Tensor c = zeros({6}, i32);
    kernel({6}, [&](Tensor i) {
        if_(
            i % 2 == 0, [&] { c(i) = i; }, [&] { c(i) = -i; });
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, -1, 2, -3, 4, -5}));
}

TEST_P(StoringKernels, MatrixProductInTiles) {
    Tensor a = tensor(floats(7 * 10, 0.25f), {7, 10}), b = tensor(floats(10 * 6, 0.5f), {10, 6});
    EXPECT_EQ(tiled_matmul(a, b, 4).to_vector<float>(), matmul(a, b).to_vector<float>());
}

TEST_P(StoringKernels, MatrixProductOfSymbolicSizes) {
    auto product = compile([](Tensor a, Tensor b) { return tiled_matmul(a, b, 4); },
                           {f32("n", "k"), f32("k", "m")});
    for (int n : {1, 4, 9}) {
        Tensor a = tensor(floats(n * 5, 0.25f), {n, 5}), b = tensor(floats(5 * 3, 0.5f), {5, 3});
        Tensor c = product(a, b);
        EXPECT_EQ(c.to_vector<float>(), matmul(a, b).to_vector<float>()) << n;
    }
}

/// Sums of groups by a tree in shared memory.
Tensor group_sums(const Tensor& x, int group) {
    Tensor sums = zeros({floor_div(x.size(0) + (group - 1), group)}, i32);
    kernel({x.size(0)}, {.group = {group}}, [&](Tensor i) {
        Shared part = shared(i32, group);
        Tensor at = local_index(0);
        part(at) = zero(x)(i);
        barrier();
        for (int half = group / 2; half > 0; half /= 2) {
            if_(at < half, [&] { part(at) = part(at) + part(at + half); });
            barrier();
        }
        if_(at == 0, [&] { sums(group_index(0)) = part(0); });
    });
    return sums;
}

TEST_P(StoringKernels, TreeOfSums) {
    EXPECT_EQ(group_sums(arange(20), 8).to_vector<int>(), (Ints{28, 92, 70}));
}

TEST_P(StoringKernels, TreeOfSumsInARecordedLoop) {
    Tensor x = arange(16), sums = zeros({2}, i32);
    kernel({16}, {.group = {8}}, [&](Tensor i) {
        Shared part = shared(i32, 8);
        Tensor at = local_index(0), half = 4;
        part(at) = x(i);
        barrier();
        for (Tensor step : loop(3)) {
            if_(at < half, [&] { part(at) = part(at) + part(at + half); });
            barrier();
            half = half / 2;
        }
        if_(at == 0, [&] { sums(group_index(0)) = part(0); });
    });
    EXPECT_EQ(sums.to_vector<int>(), (Ints{28, 92}));
}

/// Returns the group of a kernel over `shape`, by axis from the last, whose loads must follow its
/// stores.
std::array<uint32_t, 3> group_over(const Shape& shape, const KernelOptions& options = {},
                                   const DeviceProfile& profile = cpu_profile()) {
    SessionScope scope(Session::interpreter(profile));
    const auto f = compile(
        [&](Tensor x) {
            Tensor out = zeros(x.shape());
            if (shape.size() == 1)
                kernel(shape, options, [&](Tensor i) {
                    out(i) = x(i) + 1.0f;
                    out(i) = 2.0f * out(i);
                });
            else
                kernel(shape, options, [&](Tensor i, Tensor j) {
                    out(i, j) = x(i, j) + 1.0f;
                    out(i, j) = 2.0f * out(i, j);
                });
            return out;
        },
        {{f32, shape}});
    return f.program()->kernels.back().group_size;
}

TEST(GroupsOfKernels, AreWiderWhereNobodySaidThemAndEnoughAreLeft) {
    using Group = std::array<uint32_t, 3>;
    EXPECT_EQ(group_over({4095}), (Group{64, 1, 1}));
    EXPECT_EQ(group_over({4096}), (Group{256, 1, 1}));
    EXPECT_EQ(group_over({64, 64}), (Group{32, 8, 1}));
    EXPECT_EQ(group_over({Size::symbol("n")}), (Group{64, 1, 1})) << "it may be small";
    EXPECT_EQ(group_over({4096}, {.group = {64}}), (Group{64, 1, 1})) << "it was asked for";
}

TEST(GroupsOfKernels, HaveNoIdlePlacesAlongShortAxes) {
    using Group = std::array<uint32_t, 3>;
    EXPECT_EQ(group_over({1, 1000}), (Group{64, 1, 1}));
    EXPECT_EQ(group_over({1000, 3}), (Group{64, 1, 1})) << "4 x 16 of them, launched as one row";
    EXPECT_EQ(group_over({1, 4096}), (Group{256, 1, 1}));
    EXPECT_EQ(group_over({1, 1000}, {.group = {8, 8}}), (Group{8, 8, 1})) << "it was asked for";
}

TEST(GroupsOfKernels, AreSmallWhereTooFewWouldBeLeftForTheCores) {
    using Group = std::array<uint32_t, 3>;
    EXPECT_EQ(group_over({64}), (Group{8, 1, 1}));
    EXPECT_EQ(group_over({200}), (Group{16, 1, 1})) << "13 groups";
    EXPECT_EQ(group_over({1, 64}), (Group{8, 1, 1}));
    EXPECT_EQ(group_over({8, 8}), (Group{8, 1, 1})) << "lanes lie along rows";
    EXPECT_EQ(group_over({3}), (Group{8, 1, 1})) << "no group is smaller than a subgroup";
    EXPECT_EQ(group_over({64}, {.group = {64}}), (Group{64, 1, 1})) << "it was asked for";
    EXPECT_EQ(group_over({64}, {}, gpu_profile()), (Group{64, 1, 1})) << "a core holds more";
}

TEST(GroupsOfKernels, AreLaunchedInRowsWhereADeviceTakesFewAlongAnAxis) {
    DeviceProfile profile = cpu_profile();
    profile.max_groups[0] = 4;
    SessionScope scope(Session::interpreter(profile));
    for (const ArgSpec& spec : {ArgSpec{i32(5, 40)}, ArgSpec{i32("n", "m")}}) {
        auto f = compile(
            [](const Tensor& x) {
                Tensor out = zeros(x.shape(), i32);
                kernel(x.shape(), {.group = {1, 8}}, [&](const Tensor& i, const Tensor& j) {
                    Shared row = shared(i32, 8);
                    row(j % 8) = x(i, j);
                    barrier();
                    out(i, j) = row(7 - j % 8);
                });
                return out;
            },
            {spec});
        const Tensor x = reshape(arange(200), {5, 40});
        const std::vector<int> out = f(x).to_vector<int>();
        for (int k = 0; k < 200; ++k) EXPECT_EQ(out[static_cast<size_t>(k)], k / 8 * 8 + 7 - k % 8);
        for_dispatches(f.program()->steps, [&](const DispatchStep& step) {
            EXPECT_LE(step.groups[0].evaluate({{"n", 5}, {"m", 40}}), 4);
        });
    }
}

}  // namespace
}  // namespace firn
