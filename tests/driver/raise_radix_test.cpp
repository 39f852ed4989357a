// Loops of butterflies take several iterations in a launch, and give the results of single ones.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "compiler/language.h"
#include "compiler/program/executor.h"
#include "compiler/program/walk_steps.h"
#include "tests/ir/near.h"

namespace firn {
namespace {

using Step = std::function<Tensor(const Tensor& x, const Tensor& level)>;
using Program1 = std::function<Tensor(Tensor)>;

/// A device with free launches: loops are not put into one kernel.
DeviceProfile free_launches(DeviceProfile profile) {
    profile.seconds_per_launch = 0;
    return profile;
}
const DeviceProfile kCpu = free_launches(cpu_profile()), kGpu = free_launches(gpu_profile());

struct Launches : StepVisitor {
    int count = 0;
    void step(const FlatStep& step) override { count += step.dispatch != nullptr; }
    bool goes_on(int, int64_t) override { return true; }
};

struct Outcome {
    std::vector<float> values;
    int launches = 0;
};
Outcome outcome(const Session& session, const Program1& f, const Shape& declared,
                const std::vector<int64_t>& shape) {
    SessionScope scope(session);
    const auto compiled = compile([&](Tensor x) { return f(x); }, {ArgSpec{f32, declared}});
    Outcome out;
    Tensor x = rand(Shape(shape.begin(), shape.end()), {.seed = 7});
    out.values = Tensor(compiled(x)).to_vector<float>();
    Launches launches;
    SizeEnv env;
    for (size_t k = 0; k < declared.size(); ++k)
        for (const std::string& name : declared[k].symbols()) env[name] = shape[k];
    walk_steps(*compiled.program(), env, launches);
    out.launches = launches.count;
    return out;
}

/// Expects the oracle's results, on a CPU driver and on a GPU, in at most (at least) so many
/// launches.
void expect_launches(const Program1& f, const std::vector<int64_t>& shape, int least, int most,
                     Shape declared = {}) {
    if (declared.empty()) declared.assign(shape.begin(), shape.end());
    const Outcome expected = outcome(Session::oracle(), f, declared, shape);
    for (const DeviceProfile& profile : {kCpu, kGpu}) {
        SCOPED_TRACE(profile.name);
        const Outcome got = outcome(Session::interpreter(profile), f, declared, shape);
        EXPECT_LE(got.launches, most);
        EXPECT_GE(got.launches, least);
        ASSERT_EQ(got.values.size(), expected.values.size());
        for (size_t k = 0; k < got.values.size(); ++k)
            ASSERT_TRUE(near(got.values[k], expected.values[k], 1e-5)) << "element " << k;
    }
}

/// `count` iterations of a loop.
Program1 levels(int count, const Step& step) {
    return [=](Tensor x) {
        for (Tensor level : loop(count)) x = step(x, level);
        return x;
    };
}

/// A Walsh-Hadamard transform: sums and differences at a distance.
Tensor sums_and_differences(const Tensor& x, const Tensor& distance) {
    Tensor i = arange(x.size(0)), y = x(i ^ distance);
    return select((i & distance) == 0, x + y, y - x);
}
Tensor rising(const Tensor& x, const Tensor& level) { return sums_and_differences(x, 1 << level); }
Step falling(int last) {
    return [=](const Tensor& x, const Tensor& level) {
        return sums_and_differences(x, 1 << (last - level));
    };
}

constexpr int kMost = 1000;

TEST(RaiseRadix, FourIterationsAreOneLaunch) {
    expect_launches(levels(8, rising), {256}, 2, 2);
    expect_launches(levels(8, falling(7)), {256}, 2, 2);
}

TEST(RaiseRadix, ThoseThatAreLeftAreHalvedAndSoOn) {
    expect_launches(levels(7, rising), {128}, 3, 3);
    expect_launches(levels(11, falling(10)), {2048}, 4, 4);
    expect_launches(levels(9, rising), {512}, 3, 3);
}

/// Bands of 16 divide 96 elements where the distance is 1 or 2: there are 3 times 32.
TEST(RaiseRadix, WhereBandsDoNotDivideTheAxisIterationsAreLaunched) {
    expect_launches(levels(5, rising), {96}, 2, 2);
    expect_launches(levels(5, rising), {80}, 2, kMost);
    expect_launches(levels(5, rising), {37}, 5, 5);
    expect_launches(levels(4, rising), {1}, 4, 4);
}

/// Distances beyond the end meet the last element.
TEST(RaiseRadix, DistancesBeyondTheAxisAreLaunched) {
    expect_launches(levels(8, rising), {32}, 5, kMost);
    expect_launches(levels(6, falling(9)), {64}, 3, kMost);
}

TEST(RaiseRadix, TheCallsSizeDecides) {
    for (int64_t n : {1, 16, 100, 1024})
        expect_launches(levels(5, rising), {n}, 1, 5, {Size::symbol("n")});
}

TEST(RaiseRadix, LoopsBeginAnywhereAndCountDown) {
    const auto from_two = [](Tensor x) {
        for (Tensor level : loop(2, 10)) x = rising(x, level);
        return x;
    };
    expect_launches(from_two, {1024}, 2, 2);
    const auto down = [](Tensor x) {
        for (Tensor level : loop(7, -1, -1)) x = rising(x, level);
        return x;
    };
    expect_launches(down, {256}, 2, 2);
}

/// The pairs that a stage compares, by their number.
struct Pairs {
    Tensor low, high;
    Pairs(const Tensor& t, const Tensor& distance)
        : low(t / distance * (2 * distance) + t % distance), high(low + distance) {}
};

/// Batcher's bitonic network, K. E. Batcher, 1968.
Tensor sorted(Tensor x, int count, const std::function<void(Tensor&, Tensor, Tensor)>& stage) {
    for (Tensor k : loop(count))
        for (Tensor j : loop(k + 1)) stage(x, k, 1 << (k - j));
    return x;
}
void compared(Tensor& x, const Tensor& t, const Tensor& k, const Tensor& distance) {
    const Pairs pairs(t, distance);
    Tensor a = x(pairs.low), b = x(pairs.high);
    Tensor swap = (a > b) == ((pairs.low & (2 << k)) == 0);
    x(pairs.low) = select(swap, b, a);
    x(pairs.high) = select(swap, a, b);
}

TEST(RaiseRadix, PairsAreComparedInRegisters) {
    const auto by_stores = [](Tensor x) {
        return sorted(x, 8, [](Tensor& x, Tensor k, Tensor distance) {
            compared(x, arange(floor_div(x.size(0), 2)), k, distance);
        });
    };
    const auto by_kernels = [](Tensor x) {
        return sorted(x, 8, [](Tensor& x, Tensor k, Tensor distance) {
            kernel({floor_div(x.size(0), 2)}, [&](Tensor t) { compared(x, t, k, distance); });
        });
    };
    // 8 levels of up to 8 stages: 1 2 3 4 5 6 7 8, of which 12 launches take four.
    expect_launches(by_stores, {256}, 8, 20);
    expect_launches(by_kernels, {256}, 8, 20);
    expect_launches(by_kernels, {320}, 20, 36);
}

/// A transform of complex numbers along axis `axis`, without the reversal of bits.
Program1 transformed(int axis, int count) {
    return [=](Tensor x) {
        Tensor re = x, im = 1 - x;
        Shape halves = x.shape();
        halves[size_t(axis)] = floor_div(halves[size_t(axis)], 2);
        auto [i, j, k] = indices<3>(halves);
        const auto along = [&](Tensor& t, const Tensor& p) {
            return axis == 0 ? t(p, j, k) : axis == 1 ? t(i, p, k) : t(i, j, p);
        };
        for (Tensor level : loop(count)) {
            Tensor half = 1 << level, t = axis == 0 ? i : axis == 1 ? j : k, offset = t % half;
            const Pairs pairs(t, half);
            Tensor angle = -float(M_PI) * cast<float>(offset) / cast<float>(half);
            Tensor c = cos(angle), s = sin(angle), low_re = along(re, pairs.low),
                   low_im = along(im, pairs.low), high_re = along(re, pairs.high),
                   high_im = along(im, pairs.high);
            Tensor turned_re = high_re * c - high_im * s, turned_im = high_re * s + high_im * c;
            along(re, pairs.low) = low_re + turned_re;
            along(im, pairs.low) = low_im + turned_im;
            along(re, pairs.high) = low_re - turned_re;
            along(im, pairs.high) = low_im - turned_im;
        }
        return re + 2 * im;
    };
}

TEST(RaiseRadix, SeveralTensorsAlongAnyAxis) {
    expect_launches(transformed(0, 5), {32, 5, 3}, 2, 4);
    expect_launches(transformed(1, 5), {5, 32, 3}, 2, 4);
    expect_launches(transformed(2, 5), {5, 3, 32}, 2, 5);
}

TEST(RaiseRadix, OneAxisOfFive) {
    const auto step = [](const Tensor& x, const Tensor& level) -> Tensor {
        auto [h, i, j, k, l] = indices<5>(x.shape());
        return 0.5f * x + x(h, i, j ^ (1 << level), k, l);
    };
    expect_launches(levels(4, step), {2, 20, 32, 20, 3}, 1, 1);
}

/// A comparison of wrapped values, and a quotient by 0.
TEST(RaiseRadix, NumbersWrapAroundAsEver) {
    expect_launches(levels(4,
                           [](const Tensor& x, const Tensor& level) {
                               Tensor i = arange(x.size(0)), large = i * 50000 * 50000;
                               Tensor least = 2147483647 - (i & 1) * 0;
                               return rising(x, level) + select(large + 1 < large, 1.0f, 0.0f) +
                                      select(least + 1 < least, 1.0f, 0.0f) + cast<float>(i / 0);
                           }),
                    {64}, 1, 4);
}

TEST(RaiseRadix, BitsOfIndicesAreFoundByShiftsAndMasksToo) {
    expect_launches(levels(8,
                           [](const Tensor& x, const Tensor& level) {
                               Tensor t = arange(floor_div(x.size(0), 2)), half = 1 << level,
                                      low = ((t >> level) << (level + 1)) | (t & (half - 1)),
                                      high = low | half, a = x(low), b = x(high), y = x;
                               y(low) = a + b;
                               y(high) = a - b;
                               return y;
                           }),
                    {256}, 2, 2);
}

TEST(RaiseRadix, BitsThatAreThereAlreadyAreSetOnce) {
    expect_launches(levels(8,
                           [](const Tensor& x, const Tensor& level) {
                               Tensor i = arange(x.size(0)), distance = 1 << level;
                               Tensor block = i / distance * distance;
                               return 0.5f * (x + x((block | distance) | (i % distance)));
                           }),
                    {256}, 2, 2);
}

/// None of these keeps to bands of its distance.
TEST(RaiseRadix, WhatReadsBeyondABandIsLaunched) {
    const auto each = [](const Step& step) { expect_launches(levels(4, step), {64}, 4, 4); };
    each([](const Tensor& x, const Tensor& level) {  // a scan's stage
        Tensor i = arange(x.size(0));
        return x + zero(x)(i - (1 << level));
    });
    each([](const Tensor& x, const Tensor& level) {
        Tensor i = arange(x.size(0));
        return x + x(i ^ (3 << level));
    });
    each([](const Tensor& x, const Tensor& level) {  // the neighbour, too
        Tensor i = arange(x.size(0));
        return x + x(i ^ (1 << level)) + x(i ^ 1);
    });
    each([](const Tensor& x, const Tensor& level) {  // one for all
        Tensor i = arange(x.size(0));
        return x + x(i ^ (1 << level)) * x(0);
    });
}

/// Each stage leaves the odd ones as they are.
TEST(RaiseRadix, WhatDoesNotWriteAllOfABandIsLaunched) {
    const auto halves = [](Tensor x) {
        Tensor t = arange(floor_div(x.size(0), 2));
        for (Tensor level : loop(4)) {
            const Pairs pairs(t, 1 << level);
            x(pairs.low) = x(pairs.low) + x(pairs.high);
        }
        return x;
    };
    expect_launches(halves, {64}, 4, kMost);
}

TEST(RaiseRadix, WhatOneGroupRunsStaysOneLaunch) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    const auto small = compile([](Tensor x) { return levels(8, rising)(x); }, {f32(256)});
    EXPECT_EQ(stats(*small.program(), {}).dispatches, 1);
    const auto large = compile([](Tensor x) { return levels(8, rising)(x); }, {f32(1 << 20)});
    EXPECT_EQ(stats(*large.program(), {}).dispatches, 2);
}

/// The host computes a number of the iteration: it is that of one.
TEST(RaiseRadix, NumbersOfTheHostAreThoseOfTheirIteration) {
    expect_launches(levels(4,
                           [](const Tensor& x, const Tensor& level) {
                               Tensor t = cast<float>(level), far = t;
                               for (int k = 0; k < 8; ++k) far = sin(far) * 1.5f + t;
                               return rising(x, level) * far;
                           }),
                    {64}, 1, 4);
}

/// Stages at any distances, sizes, orders and places of the loop.
TEST(RaiseRadix, RandomNetworksGiveWhatTheOracleGives) {
    std::mt19937 random(20261126);
    const auto any = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    for (int k = 0; k < 40; ++k) {
        const int form = any(0, 3), count = any(1, 9), begin = any(0, 2), top = begin + count - 1;
        const bool falls = any(0, 1) == 1;
        const int64_t n = int64_t(any(1, 5)) << any(0, 9);
        const auto stage = [&](const Tensor& x, const Tensor& level) -> Tensor {
            Tensor distance = 1 << (falls ? top - level : begin + level);
            if (form == 0) return sums_and_differences(x, distance) * 0.5f;
            Tensor y = x;
            if (form == 1) {
                compared(y, arange(floor_div(x.size(0), 2)), level % 3, distance);
            } else if (form == 2) {
                kernel({floor_div(x.size(0), 2)},
                       [&](Tensor t) { compared(y, t, level % 3, distance); });
            } else {
                Tensor i = arange(x.size(0)), other = wrap(x)(i ^ distance);
                y = max(x, other) - 0.25f * x(i | distance) * x(i & (distance - 1));
            }
            return y;
        };
        SCOPED_TRACE("form " + std::to_string(form) + ", " + std::to_string(count) + " levels, " +
                     std::to_string(n) + " elements, from " + std::to_string(begin) +
                     (falls ? ", falling" : ", rising"));
        expect_launches(levels(count, stage), {n}, 0, kMost);
    }
}

}  // namespace
}  // namespace firn
