// Gradients of random functions against differences.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>
#include <string>

#include "compiler/base/error.h"
#include "compiler/language.h"
#include "tests/autodiff/random_function.h"
#include "tests/ir/random_check.h"

namespace firn {
namespace {

std::vector<double> random_numbers(uint64_t seed, int64_t count) {
    programs::Dice dice(seed + 77);
    std::vector<double> out;
    for (int64_t k = 0; k < count; ++k) out.push_back((dice.below(200'000) - 100'000) * 1.3e-5);
    return out;
}

std::vector<Tensor> arguments(uint64_t seed, DType dtype) {
    programs::Dice dice(seed);
    Shape shape;
    for (int rank = 1 + dice.below(2); rank > 0; --rank) shape.push_back(1 + dice.below(4));
    // Loops keep what sums of 16 terms and more gave.
    if (dice.chance(10)) shape.back() = 16 + dice.below(4);
    const int64_t count = element_count(shape).constant();
    return {tensor(random_numbers(3 * seed, count), shape).as(dtype),
            tensor(random_numbers(3 * seed + 1, count), shape).as(dtype),
            tensor(random_numbers(3 * seed + 2, 1), Shape{}).as(dtype)};
}

bool is_finite_at(const std::vector<Tensor>& at, const RandomFunction& function) {
    for (double value : function(at).to_vector<double>())
        if (!std::isfinite(value)) return false;
    return true;
}

/// Few directions of few functions have kinks, and few functions overflow (a power of what a loop
/// multiplies): what is not judged proves nothing.
TEST(RandomGradients, AgreeWithDifferences) {
    const RandomSeeds seeds = random_seeds(0, 100);
    int64_t directions = 0, not_smooth = 0;
    uint64_t overflown = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        SessionScope scope(Session::oracle());
        const RandomFunction function(seed);
        const std::vector<Tensor> at = arguments(seed, f64);
        const GradientCheck found = check_gradients(function, at, {.tolerance = 1e-5});
        if (!found && !is_finite_at(at, function)) {
            ++overflown;
            continue;
        }
        directions += found.directions, not_smooth += found.not_smooth;
        ASSERT_TRUE(found) << "seed " << seed << " (FIRN_RANDOM_SEED=" << seed
                           << " FIRN_RANDOM_COUNT=1): " << found.where;
    }
    EXPECT_LE(not_smooth * 50, directions + 49) << not_smooth << " of " << directions;
    std::cout << "  counted " << overflown << " that overflow of " << seeds.count << "\n";
    EXPECT_LE(overflown * 100, seeds.count + 99) << overflown << " of " << seeds.count;
}

/// The gradients of a function of one seed, all elements in one row.
std::vector<float> compiled_gradients(const Session& session, uint64_t seed) {
    SessionScope scope(session);
    const std::vector<Tensor> at = arguments(seed, f32);
    const Shape shape = at[0].shape();
    const ArgSpec spec = shape.size() == 1 ? f32("n") : f32("n", "m");
    const auto f = compile(
        [&](const std::vector<Tensor>& xs) {
            return grad(RandomFunction(seed)(xs), xs, {.allow_unused = true});
        },
        std::vector<ArgSpec>{spec, spec, f32()});
    std::vector<float> out;
    for (const Tensor& each : f(at))
        for (float value : each.to_vector<float>()) out.push_back(value);
    return out;
}

/// Kernels that serve every size agree with the oracle.
TEST(RandomGradients, ByKernelsOfAnySize) {
    const RandomSeeds seeds = random_seeds(100'000, 12);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const std::vector<float> expected = compiled_gradients(Session::oracle(), seed),
                                 got = compiled_gradients(Session::interpreter(), seed);
        ASSERT_EQ(got.size(), expected.size());
        float largest = 1;
        for (float value : expected) largest = std::max(largest, std::abs(value));
        for (size_t k = 0; k < got.size(); ++k)
            ASSERT_NEAR(got[k], expected[k], 1e-3 * largest) << "seed " << seed << " element " << k;
    }
}

/// Gradients by all arguments and a change forwards, in one row.
struct Derivatives {
    std::vector<double> values;
    std::string refused;         // why there are none: memory that they need was given away
    std::string second_refused;  // why there are none of second order
};

Derivatives derivatives(uint64_t seed, DType dtype, RandomFunction::Computes computes) {
    const std::vector<Tensor> at = arguments(seed, dtype);
    Derivatives out;
    std::vector<Tensor> found;
    try {
        const Tensor y = RandomFunction(seed, computes)(at);
        found = grad(y, at, {.allow_unused = true});
        found.push_back(jvp(y, at, {cos(at[0]), at[1], at[2]}, {.allow_unused = true}));
    } catch (const UserError& error) {
        out.refused = error.what();
        return out;
    }
    try {
        found.push_back(grad(sum(found[0]), at[1], {.allow_unused = true}));
    } catch (const UserError& error) {
        out.second_refused = error.what();
    }
    for (Tensor& each : found)
        for (double value : each.to_vector<double>()) out.values.push_back(value);
    return out;
}

/// A gradient that needs memory that the function gave away by std::move is refused where values
/// are computed, and the memory is written over; no other is, and few are.
void expect_no_change(const Session& session, DType dtype, const RandomSeeds& seeds,
                      double tolerance) {
    const auto by_move = [](const std::string& reason) {
        return reason.find("donated by std::move") != std::string::npos;
    };
    uint64_t refused = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        SessionScope scope(session);
        const std::string name = "seed " + std::to_string(seed) +
                                 " (FIRN_RANDOM_SEED=" + std::to_string(seed) +
                                 " FIRN_RANDOM_COUNT=1)";
        const Derivatives expected = derivatives(seed, dtype, RandomFunction::Computes::Nothing),
                          got = derivatives(seed, dtype, RandomFunction::Computes::Some);
        ASSERT_EQ(expected.refused, "") << name;
        if (by_move(got.refused) || by_move(got.second_refused)) {
            ++refused;
            continue;
        }
        ASSERT_EQ(got.refused, "") << name;
        ASSERT_EQ(got.second_refused.empty(), expected.second_refused.empty())
            << name << got.second_refused << expected.second_refused;
        ASSERT_EQ(got.values.size(), expected.values.size());
        double largest = 1;
        for (double value : expected.values) largest = std::max(largest, std::abs(value));
        for (size_t k = 0; k < got.values.size(); ++k)
            ASSERT_NEAR(got.values[k], expected.values[k], tolerance * largest)
                << name << ", element " << k;
    }
    std::cout << "  counted " << refused << " refusals of " << seeds.count << "\n";
    EXPECT_LE(refused * 4, seeds.count + 3) << refused << " of " << seeds.count << " are refused";
}

TEST(RandomGradientsOnTheWay, DoNotChangeWhereValuesAreComputed) {
    expect_no_change(Session::oracle(), f64, random_seeds(200'000, 20), 1e-9);
}
TEST(RandomGradientsOnTheWay, DoNotChangeWhereKernelsComputeValues) {
    expect_no_change(Session::interpreter(), f32, random_seeds(300'000, 2), 1e-3);
}

/// Enough of the random functions have each of these.
TEST(RandomFunctions, HaveKernelsAroundLoopsAndComputedValues) {
    const RandomSeeds seeds = random_seeds(0, 300);
    std::map<std::string, uint64_t> have;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        SessionScope scope(Session::oracle());
        RandomContents in;
        RandomFunction function(seed);
        function.contents = &in;
        function(arguments(seed, f64));
        have["a kernel"] += in.kernels > 0;
        have["up to four kernels in a row"] += in.most_kernels == 4;
        have["a kernel before a loop"] += in.kernel_before_loop;
        have["a kernel in a loop"] += in.kernel_in_loop;
        have["a kernel after a loop"] += in.kernel_after_loop;
        have["a kernel with groups"] += in.grouped_kernel;
        have["a value that is read"] += in.values > 0;
        have["a call of a compiled function"] += in.calls > 0;
        have["a kernel before a computed value"] += in.kernel_before_value;
        have["a kernel after a computed value"] += in.kernel_after_value;
    }
    EXPECT_EQ(have["a kernel"], seeds.count);
    for (const auto& [what, count] : have) {
        std::cout << "  counted " << count << " of " << seeds.count << " have " << what << "\n";
        EXPECT_GE(count * 5, seeds.count) << what;
    }
}

/// A kink is no fault, and a wrong rule is one, there too where the function has kinks elsewhere.
TEST(CheckGradients, TellKinksFromFaults) {
    const std::vector<Tensor> at{tensor({0.0f, 1.0f, -0.5f})};
    const auto kinks = [](const std::vector<Tensor>& a) {
        return select(a[0] > 0.0f, a[0], 0.3f * a[0]);
    };
    const GradientCheck found = check_gradients(kinks, at);
    EXPECT_TRUE(found) << found.where;
    EXPECT_EQ(found.directions, 3);
    EXPECT_EQ(found.not_smooth, 1);
    const auto steps = [](const std::vector<Tensor>& a) { return sign(a[0]) * a[0](1); };
    EXPECT_EQ(check_gradients(steps, at).not_smooth, 1);
    const auto wrong = [&](const std::vector<Tensor>& a) {
        return custom_gradient([&](const std::vector<Tensor>& b) { return kinks(b); }, a,
                               [](const std::vector<Tensor>&, const Tensor&, const Tensor& g) {
                                   return std::vector<Tensor>{0.999f * g};
                               });
    };
    const GradientCheck fault = check_gradients(wrong, at);
    EXPECT_FALSE(fault);
    EXPECT_NE(fault.where.find("element"), std::string::npos);
}

}  // namespace
}  // namespace firn
