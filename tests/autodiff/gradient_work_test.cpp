// How many operations gradients take beside what they are the gradients of.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "compiler/language.h"
#include "compiler/program/error.h"
#include "tests/autodiff/random_function.h"
#include "tests/ir/random_check.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// Operations of the gradient of `value` by all arguments over those of the value.
double operations_ratio(const std::function<Tensor(const Tensors&)>& value,
                        const std::vector<ArgSpec>& arguments) {
    const auto operations = [&](bool gradient) {
        const auto f = compile(
            [&](const Tensors& xs) {
                const Tensor y = value(xs);
                return gradient ? grad(y, xs, {.allow_unused = true}) : Tensors{y};
            },
            arguments);
        return static_cast<double>(f.stats().operations);
    };
    const double of_value = operations(false);
    return operations(true) / of_value;
}

class GradientWork : public testing::Test {
    SessionScope scope_{Session::interpreter(cpu_profile())};
};

TEST_F(GradientWork, OfMatrixProductsThatAreLoops) {
    const int n = 128;
    const auto layer = [&](const Tensor& w, const Tensor& x) {
        Tensor s = zeros({n});
        for (Tensor i : loop(n)) s += w(all, i) * x(i);
        return tanh(s);
    };
    const auto three = [&](const Tensors& xs) {
        return sum(layer(xs[3], layer(xs[2], layer(xs[1], xs[0]))));
    };
    EXPECT_LE(operations_ratio(three, {f32(n), f32(n, n), f32(n, n), f32(n, n)}), 7);
}

TEST_F(GradientWork, OfANetworkThatIsNestedLoops) {
    const int n = 64;
    const auto layer = [](const Tensor& w, const Tensor& x) {
        Tensor out = zeros({w.size(0)});
        for (Tensor i : loop(w.size(0))) {
            Tensor s = 0.0f;
            for (Tensor k : loop(w.size(1))) s += w(i, k) * x(k);
            store(out(i), tanh(s));
        }
        return out;
    };
    const auto network = [&](const Tensors& xs) {
        return sum(layer(xs[3], layer(xs[2], layer(xs[1], xs[0]))));
    };
    EXPECT_LE(operations_ratio(network, {f32(2), f32(n, 2), f32(n, n), f32(3, n)}), 5.5);
}

TEST_F(GradientWork, OfARecurrentNetwork) {
    const auto last_state = [](const Tensors& xs) {
        Tensor state = zeros({32});
        for (Tensor turn : loop(100)) state = tanh(matmul(xs[1], state) + xs[0](turn));
        return sum(state);
    };
    EXPECT_LE(operations_ratio(last_state, {f32(100, 32), f32(32, 32)}), 4.5);
}

/// A sine is one operation, its derivative two, that of tanh twelve: half of all functions take no
/// more than 6 times the operations, and none more than 20 times. Where a launch costs nothing, no
/// operation is done twice to save one.
TEST_F(GradientWork, OfRandomFunctions) {
    DeviceProfile profile = cpu_profile();
    profile.seconds_per_launch = 1e-9;
    SessionScope scope(Session::interpreter(profile));
    const RandomSeeds seeds = random_seeds(900'000, 15);
    std::vector<double> ratios;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const ArgSpec x = seed % 2 ? f32(192, 256) : f32(4096);
        try {
            ratios.push_back(operations_ratio(RandomFunction(seed), {x, x, f32()}));
        } catch (const UserError&) {
            continue;  // only a call knows how often its loops run
        }
        EXPECT_LE(ratios.back(), 20) << "FIRN_RANDOM_SEED=" << seed << " FIRN_RANDOM_COUNT=1";
    }
    if (seeds.count < 10) return;
    ASSERT_GE(ratios.size() * 10, seeds.count * 9);
    std::sort(ratios.begin(), ratios.end());
    EXPECT_LE(ratios[ratios.size() / 2], 6);
}

/// Loops of as many iterations as there are elements, in chunks that the driver allows.
TEST_F(GradientWork, OfLongLoops) {
    const ArgSpec x = f32(65536);
    EXPECT_LE(operations_ratio(RandomFunction(900'078), {x, x, f32()}), 5);
    EXPECT_LE(operations_ratio(RandomFunction(900'178), {x, x, f32()}), 8);
}

/// What is stored by position was asked for at an index of another rank.
TEST_F(GradientWork, OfALargeRandomFunction) {
    const ArgSpec x = f32(1024, 768);
    EXPECT_LE(operations_ratio(RandomFunction(900'007), {x, x, f32()}), 20);
}

}  // namespace
}  // namespace firn
