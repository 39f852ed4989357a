// The kernels of stores at computed indices.
#include <algorithm>
#include <cmath>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

// Found by random programs: a block of four went on behind the last position.
TEST(ScatterPlans, StoreNothingBehindTheLastPosition) {
    for (const Session& session :
         {Session::oracle(), Session::interpreter(), Session::interpreter(gpu_profile())}) {
        SessionScope scope(session);
        auto f = compile(
            [](Tensor rows, Tensor x) {
                x(index(rows, 0)) = 1;
                return x;
            },
            {i32("n"), i32("m", 5)});
        for (int n : {0, 1, 2, 3, 1, 1, 7}) {
            Ints expected(static_cast<size_t>(5 * 9), 0);
            std::fill(expected.begin(), expected.begin() + 5 * n, 1);
            EXPECT_EQ(f(zeros({n}, i32), zeros({9, 5}, i32)).to_vector<int>(), expected) << n;
        }
    }
}

TEST(ScatterPlans, CombineInPlaceWhereNobodyReadsTheOldVersion) {
    SessionScope scope(Session::interpreter());
    auto add = compile(
        [](Tensor x) {
            Tensor sums = zeros({64}, i32);
            scatter_add(sums(x % 64), x);
            scatter_add(sums(x % 7), 1);
            return sums;
        },
        {i32("n")});
    add(arange(70000));                    // few would be one sequence
    EXPECT_EQ(add.stats().dispatches, 3);  // zeros, and one for each store
}

TEST(ScatterPlans, StoresOfTheSamePositionsShareAKernel) {
    SessionScope scope(Session::interpreter());
    auto splat = compile(
        [](Tensor at, Tensor x) {
            Tensor red = zeros({64}), green = zeros({64}), blue = ones({64});
            scatter_add(red(at), x);
            scatter_add(green(at), 2.0f * x);
            scatter_max(blue(at), x);
            return std::tuple{red, green, blue};
        },
        {i32("n"), f32("n")});
    auto [red, green, blue] = splat(arange(70000), sin(arange(70000).as(f32)));
    EXPECT_EQ(splat.stats().dispatches, 2);  // their initial values, and the stores
    EXPECT_NEAR(green.to_vector<float>()[5], 2.0f * std::sin(5.0f), 1e-6f);
}

TEST(ScatterPlans, ElementsCountTheirIterationsInOneKernel) {
    // A Buddhabrot in small: orbits of several lengths leave their marks along their ways.
    SessionScope scope(Session::interpreter());
    auto orbits = compile(
        [](Tensor start) {
            Tensor visits = zeros({16}, i32), longest = zeros({4}, i32), x = start;
            for (Tensor iteration : loop(50)) {
                if_(x == 1, [&] { break_(); });
                scatter_add(visits(x), 1);
                scatter_max(longest(start % 4), iteration);
                x = select(x % 2 == 1, 3 * x + 1, x / 2);
            }
            return std::tuple{visits, longest, x};
        },
        {i32("n")});
    auto [visits, longest, x] = orbits(arange(20) + 1);
    Ints expected(16), iterations(4);
    for (int k = 1; k <= 20; ++k) {
        int at = k;
        for (int iteration = 0; iteration < 50 && at != 1;
             ++iteration, at = at % 2 ? 3 * at + 1 : at / 2) {
            if (at < 16) ++expected[static_cast<size_t>(at)];
            iterations[static_cast<size_t>(k % 4)] =
                std::max(iterations[static_cast<size_t>(k % 4)], iteration);
        }
    }
    EXPECT_EQ(visits.to_vector<int>(), expected);
    EXPECT_EQ(longest.to_vector<int>(), iterations);
    EXPECT_EQ(x.to_vector<int>(), Ints(20, 1));
    EXPECT_LE(orbits.stats().dispatches,
              4);  // the initial values of the two, the orbits with their marks, x
}

TEST(ScatterPlans, ATurnThatReadsWhatOthersCountedIsAKernelOfItsOwn) {
    SessionScope scope(Session::interpreter());
    Tensor sums = zeros({4}, i32), x = arange(8);
    for (Tensor iteration : loop(3)) scatter_add(sums(x % 4), sums((x + 1) % 4) + 1);
    EXPECT_EQ(sums.to_vector<int>(), Ints(4, 26));
}

TEST(ScatterPlans, SumsIntoOneLargeTensorAreOneKernel) {
    SessionScope scope(Session::interpreter());
    const auto splat = [](int n) {
        auto f = compile(
            [](Tensor at, Tensor x) {
                Tensor grid = ones({150, 150});
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j)
                        scatter_add(grid(at / 150 + i, at % 150 + j), float(1 + 3 * i + j) * x);
                if_(x > 2.0f, [&] { scatter_add(grid(0, at % 7), x); });
                return grid;
            },
            {i32(n), f32(n)});
        const Tensor at = arange(n) * 37 % 22500, x = arange(n).as(f32) % 5;
        std::vector<float> expected(22500, 1.0f);
        for (int k = 0; k < n; ++k) {
            const int place = k * 37 % 22500;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)  // stores outside are dropped
                    if (place / 150 + i < 150 && place % 150 + j < 150)
                        expected[size_t((place / 150 + i) * 150 + place % 150 + j)] +=
                            float((1 + 3 * i + j) * (k % 5));
            if (k % 5 > 2) expected[size_t(place % 7)] += float(k % 5);
        }
        EXPECT_EQ(Tensor(f(at, x)).to_vector<float>(), expected);
        return f.stats().dispatches;
    };
    EXPECT_EQ(splat(20000), 2);  // ones, and all stores
    splat(1);
}

/// Splats into `tensors` tensors, each twice; the last of them stores the current values of the
/// first if it `waits`. Returns the number of kernels that store.
int64_t kernels_of_splats(int tensors, bool waits, const DeviceProfile& profile = cpu_profile()) {
    SessionScope scope(Session::interpreter(profile));
    auto f = compile(
        [&](Tensor at, Tensor x) {
            std::vector<Tensor> out(size_t(tensors), zeros({20000}));
            for (size_t k = 0; k < out.size(); ++k) {
                Tensor value = waits && k + 1 == out.size() ? out[0](at) : x * float(k + 1);
                scatter_add(out[k](at), value);
                scatter_add(out[k](at + 1), value + 1.0f);
            }
            return out;
        },
        {i32(40000), f32(40000)});
    const auto sums = f(arange(40000) % 100, arange(40000).as(f32) % 3);
    std::vector<float> first;
    for (size_t k = 0; k < size_t(tensors); ++k) {
        std::vector<float> expected(20000);
        for (size_t j = 0; j < 40000; ++j) {
            const float value =
                waits && k + 1 == size_t(tensors) ? first[j % 100] : float(j % 3) * float(k + 1);
            expected[j % 100] += value;
            expected[j % 100 + 1] += value + 1;
        }
        EXPECT_EQ(sums[k].to_vector<float>(), expected) << tensors << " " << k;
        if (k == 0) first = expected;
    }
    const auto& kernels = f.program()->kernels;
    const auto line = [](const KernelInfo& kernel) {
        return kernel.name.substr(kernel.name.find(' '));
    };
    return std::count_if(kernels.begin(), kernels.end(), [&](const KernelInfo& kernel) {
        return line(kernel) == line(kernels.back());
    });
}

TEST(ScatterPlans, SumsIntoSeveralTensorsAreOneKernelForThreeOfThem) {
    EXPECT_EQ(kernels_of_splats(1, false), 1);
    EXPECT_EQ(kernels_of_splats(3, false), 1);
    EXPECT_EQ(kernels_of_splats(4, false), 2);
    EXPECT_EQ(kernels_of_splats(2, true), 2) << "the second reads what the first one leaves";
    EXPECT_EQ(kernels_of_splats(3, true), 2);
    DeviceProfile least = cpu_profile();
    least.max_storage_buffers = least.max_views = 4;
    EXPECT_EQ(kernels_of_splats(3, false, least), 1);
}

TEST(ScatterPlans, OtherCombinationsAndWhatReadsBetweenStayApart) {
    SessionScope scope(Session::interpreter());
    auto f = compile(
        [](Tensor at) {
            Tensor a = zeros({20000}, i32), b = a;
            scatter_add(a(at), 1);
            scatter_max(a(at + 1), 5);
            scatter_add(b(at), 2);
            Tensor seen = b(at + 2);
            scatter_add(b(at + 1), seen);
            return std::pair{a, b};
        },
        {i32(4000)});
    auto [a, b] = f(arange(4000));
    std::vector<int> one(20000), other(20000);
    for (size_t k = 0; k < 4000; ++k) ++one[k], other[k] += 2;
    for (size_t k = 0; k < 4000; ++k) one[k + 1] = std::max(one[k + 1], 5);
    const std::vector<int> seen = other;
    for (size_t k = 0; k < 4000; ++k) other[k + 1] += seen[k + 2];
    EXPECT_EQ(a.to_vector<int>(), one);
    EXPECT_EQ(b.to_vector<int>(), other);
}

TEST(ScatterPlans, AResultInAnotherShapeIsNoCopy) {
    SessionScope scope(Session::interpreter());
    const auto counted = [](const Shape& shape) {
        auto f = compile(
            [shape](Tensor x) {
                Tensor sums = zeros({70000});
                for (Tensor iteration : loop(2)) scatter_add(sums(x % 70000), sums(x % 7) + 1.0f);
                return reshape(sums, shape);
            },
            {i32("n")});
        Tensor made = f(arange(70000));
        EXPECT_EQ(made.shape(), shape);
        EXPECT_EQ(made.to_vector<float>()[69999], 3.0f);
        return f.stats().dispatches;
    };
    EXPECT_EQ(counted({7, 100, 100}), counted({70000}));
}

TEST(ScatterPlans, StoresThatNeverTakePlaceAreNoKernel) {
    SessionScope scope(Session::interpreter());
    auto count = compile(
        [](Tensor x) {
            Tensor sums = zeros({4}, i32), one = 1;
            scatter_add(sums(x * 0 + 9), 1);
            while_([&] { return one % 3 != 1; }, [&] { scatter_add(sums(x), one), one += x(0); },
                   {.max_steps = 2});
            return sums;
        },
        {i32("n")});
    EXPECT_EQ(count(arange(3)).to_vector<int>(), Ints(4));
}

TEST(ScatterPlans, ALoopCountsInPlace) {
    SessionScope scope(Session::interpreter());
    auto add = compile(
        [](Tensor x) {
            Tensor sums = zeros({64}, i32);
            for (Tensor iteration : loop(10)) scatter_add(sums((x + iteration) % 64), 1);
            return sums;
        },
        {i32("n")});
    add(arange(70000));  // few would be one sequence
    EXPECT_EQ(add.stats().dispatches, 2);
}

}  // namespace
}  // namespace firn
