// Remainders of floats against C's, in every way of evaluation.
#include <bit>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

template <class T>
T remainder_on_host(T x, T y) {
    const T rest = std::fmod(x, y);
    if (rest == 0) return std::copysign(T{0}, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

struct Pairs {
    Floats x, y;
};

/// Floats of all sizes, as bits are drawn.
Pairs random_pairs() {
    std::mt19937 random(3);
    Pairs out;
    for (int k = 0; k < 20000; ++k) {
        out.x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
        out.y.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    }
    for (float special : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 5.0f, -5.0f})
        for (float other : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 3.0f, -3.0f, 0.1f, 1e-45f})
            out.x.push_back(special), out.y.push_back(other);
    return out;
}

Ints bits_of(const Floats& x) {
    Ints out;
    for (float each : x) out.push_back(std::isnan(each) ? -1 : std::bit_cast<int>(each));
    return out;
}

template <class Make>
void expect_bits(const Make& make, const Floats& expected) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        EXPECT_EQ(bits_of(make().template to_vector<float>()), bits_of(expected));
    }
}

TEST(Remainders, AreNumpysForAllSizes) {
    const Pairs in = random_pairs();
    Floats expected;
    for (size_t k = 0; k < in.x.size(); ++k)
        expected.push_back(remainder_on_host(in.x[k], in.y[k]));
    expect_bits([&] { return tensor(in.x) % tensor(in.y); }, expected);
}

TEST(Remainders, OfFmodAreCs) {
    const Pairs in = random_pairs();
    Floats expected;
    for (size_t k = 0; k < in.x.size(); ++k) expected.push_back(std::fmod(in.x[k], in.y[k]));
    expect_bits([&] { return fmod(tensor(in.x), tensor(in.y)); }, expected);
}

TEST(Remainders, OfWideFloats) {
    const std::vector<double> x{1, 1, 1, -1, 5, -5, 1e300},
        y{0.1, 1e-300, 5e-324, 0.1, INFINITY, INFINITY, -3};
    std::vector<double> expected;
    for (size_t k = 0; k < x.size(); ++k) expected.push_back(remainder_on_host(x[k], y[k]));
    expect_values([&] { return tensor(x) % tensor(y); }, expected);
}

TEST(Remainders, OfIntegersHaveTheSignOfTheFirst) {
    expect_values([] { return fmod(tensor({7, -7, 5}), tensor({4, 4, 0})); }, Ints{3, -3, 0});
}

/// numpy 1.24: floor_divide.
TEST(Remainders, QuotientsRoundedDownAreNumpys) {
    const Floats x{6, 1, -1, 5, -5, 0, -0.0f, 5, -5, 7, 1e8f, -6},
        y{0.1f, 0.1f, 0.1f, INFINITY, INFINITY, 3, 3, 0, 0, -2, 3, 0.1f};
    const Floats expected{59, 9, -10, 0, -1, 0, -0.0f, INFINITY, -INFINITY, -4, 33333334, -60};
    expect_bits([&] { return floor_div(tensor(x), tensor(y)); }, expected);
    expect_values([] { return floor_div(tensor({6.0f}).as(f16), tensor({0.1f}).as(f16)).as(f32); },
                  Floats{60});
}

TEST(Remainders, HaveTheGradientOfTheirQuotient) {
    const Floats x{6, -6, 1e6f, -5, 5, 123456.7f}, y{0.1f, 0.1f, 3, INFINITY, INFINITY, 0.1f};
    expect_values(
        [&] {
            Tensor a = tensor(x), b = tensor(y);
            return grad(sum(a % b), b);
        },
        Floats{-59, 60, -333333, 1, 0, -1234567});
    expect_values(
        [&] {
            Tensor a = tensor(x), b = tensor(y);
            return grad(sum(a % b), a);
        },
        Floats(6, 1));
    expect_values(
        [&] {
            Tensor a = tensor({6.0f, -6.0f, 0.0f}), b = tensor({0.1f, 0.1f, 2.0f});
            const std::vector<Tensor> by = grad(sum(fmod(a, b)), {a, b});
            return stack({by[0], by[1]});
        },
        Floats{1, 1, 1, -59, 59, 0});
}

/// Long divisions are written out if an invocation could take more steps than a driver allows.
TEST(Remainders, InLongLoops) {
    Floats expected;
    for (int k = 0; k < 9; ++k) {
        float v = static_cast<float>(k);
        for (int iteration = 0; iteration < 3000; ++iteration)
            v = remainder_on_host(v * 1.5f + 7e9f, 0.3f);
        expected.push_back(v);
    }
    expect_values(
        [] {
            Tensor v = arange(9).as(f32);
            for (Tensor iteration : loop(3000)) v = (v * 1.5f + 7e9f) % 0.3f;
            return v;
        },
        expected);
}

}  // namespace
}  // namespace firn
