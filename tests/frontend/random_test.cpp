// Random numbers: known answers, distributions, and the same stream everywhere.
#include <array>
#include <set>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

using Words = std::vector<uint32_t>;

/// Philox as the paper states it, with 64-bit products.
std::array<uint32_t, 4> philox_on_host(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
    for (int round = 0; round < 10; ++round) {
        uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
        c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
             static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
        k[0] += 0x9E3779B9;
        k[1] += 0xBB67AE85;
    }
    return c;
}

/// Counter and key as scalars of the device, so that nothing is folded while compiling.
Tensor philox_block(const Words& in) {
    std::array<Tensor, 6> w;
    for (size_t k = 0; k < 6; ++k) w[k] = tensor(Words{in[k]});
    auto out = philox({w[0], w[1], w[2], w[3]}, {w[4], w[5]});
    return concat({out[0], out[1], out[2], out[3]});
}

// The vectors that Random123 ships for philox 4x32 with 10 rounds.
TEST(Philox, KnownAnswers) {
    expect_values([] { return philox_block(Words(6, 0)); },
                  Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    expect_values([] { return philox_block(Words(6, 0xffffffff)); },
                  Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    expect_values(
        [] {
            return philox_block(
                {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0});
        },
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Philox, ACounterThatIsNoIntegerIsAnError) {
    expect_message(error_of([] {
                       Tensor zero = 0u;
                       philox({Tensor(1.0f), zero, zero, zero}, {zero, zero});
                   }),
                   {"philox", "f32", "u32", "random_test.cpp:"});
}

TEST(Random, BitsAreThoseOfTheHost) {
    Words expected;
    for (uint32_t k = 0; k < 15; ++k) expected.push_back(philox_on_host({k, 0, 9, 0}, {77, 0})[0]);
    expect_values([] { return random_bits({3, 5}, {.seed = 77, .stream = 9}); }, expected);
}

TEST(Random, WideSeedsKeepTheirBits) {
    Words expected{philox_on_host({0, 0, 0, 0}, {0x89abcdef, 0x01234567})[0]};
    expect_values([] { return random_bits({1}, {.seed = 0x0123456789abcdefull}); }, expected);
}

TEST(Random, NegativeSeedsAreTheirBits) {
    Words expected{philox_on_host({0, 0, 0, 0}, {0xffffffff, 0})[0]};
    expect_values([] { return random_bits({1}, {.seed = -1}); }, expected);
    expect_values([] { return random_bits({1}, {.seed = sum(tensor({-1}))}); }, expected);
}

TEST(Random, OfASymbolicShape) {
    Words expected;
    for (uint32_t k = 0; k < 6; ++k) expected.push_back(philox_on_host({k, 0, 0, 0}, {3, 0})[0]);
    expect_values(
        [] {
            auto f = compile([](Tensor x) { return random_bits(x.shape(), {.seed = 3}); },
                             {f32("n", "m")});
            return f(zeros({2, 3}));
        },
        expected);
}

TEST(Random, AFloatSeedIsAnError) {
    expect_message(error_of([] { rand({2}, {.seed = 1.5f}); }),
                   {"seed", "f32", "one integer", "random_test.cpp:"});
}

TEST(Random, SeedsOfACompiledFunctionNeedNoNewProgram) {
    SessionScope scope(Session::interpreter());
    auto noise = compile([](Tensor seed) { return rand({4}, {.seed = seed}); }, {i32()});
    Floats first = noise(1).to_vector<float>(), second = noise(2).to_vector<float>();
    EXPECT_NE(first, second);
    EXPECT_EQ(first, noise(1).to_vector<float>());
    EXPECT_EQ(noise.variant_count(), 1u);
}

TEST(Random, StreamsDiffer) {
    SessionScope scope(Session::oracle());
    EXPECT_NE(rand({8}, {.seed = 1, .stream = 0}).to_vector<float>(),
              rand({8}, {.seed = 1, .stream = 1}).to_vector<float>());
}

TEST(Random, TwoCallsWithoutASeedDiffer) {
    SessionScope scope(Session::oracle());
    EXPECT_NE(rand({8}).to_vector<float>(), rand({8}).to_vector<float>());
    EXPECT_NE(randn({8}).to_vector<float>(), randn({8}).to_vector<float>());
    EXPECT_NE(permutation(32).to_vector<int>(), permutation(32).to_vector<int>());
    EXPECT_NE(shuffle(arange(32)).to_vector<int>(), shuffle(arange(32)).to_vector<int>());
}

TEST(Random, AnotherSessionBeginsWithTheSameStreams) {
    auto two = [](const Session& session) {
        SessionScope scope(session);
        Floats first = rand({4}).to_vector<float>(), second = rand({4}).to_vector<float>();
        first.insert(first.end(), second.begin(), second.end());
        return first;
    };
    EXPECT_EQ(two(Session::oracle()), two(Session::interpreter()));
}

TEST(Random, WithoutASeedTheNumbersAreNoneOfASeedFromZeroUp) {
    SessionScope scope(Session::oracle());
    Floats own = rand({8}).to_vector<float>();
    for (int seed = 0; seed < 4; ++seed)
        EXPECT_NE(own, rand({8}, {.seed = seed}).to_vector<float>());
}

TEST(Random, ASeedOrAStreamAloneIsTheSameInEveryCall) {
    SessionScope scope(Session::oracle());
    Floats first = rand({8}, {.stream = 3}).to_vector<float>();
    EXPECT_EQ(first, rand({8}, {.stream = 3}).to_vector<float>());
    EXPECT_EQ(first, rand({8}, {.seed = 0, .stream = 3}).to_vector<float>());
}

TEST(Random, ASeedWithoutAValueIsAnError) {
    expect_message(error_of([] {
                       Tensor seed;
                       rand({2}, {.seed = seed});
                   }),
                   {"no value", "random_test.cpp:"});
}

TEST(Random, AFrameLoopNeedsNoNewPlan) {
    Session session = Session::interpreter();
    SessionScope scope(session);
    Tensor x = zeros({8});
    size_t after_two = 0;
    for (int frame = 0; frame < 6; ++frame) {
        x = x + rand({8}) * randn({8}) + rand({8}, {.seed = 1, .stream = frame}) +
            rand({8}, {.seed = frame - 1});
        x.to_vector<float>();
        if (frame == 1) after_two = session.plan_count();
    }
    EXPECT_EQ(session.plan_count(), after_two);
}

TEST(Random, ACompiledFunctionGivesTheSameNumbersInEveryCall) {
    SessionScope scope(Session::interpreter());
    auto noise = compile(
        [](Tensor x) {
            return std::tuple{x + rand({4}), x + rand({4})};
        },
        {f32()});
    auto [a, b] = noise(0.0f);
    auto [c, d] = noise(0.0f);
    EXPECT_NE(a.to_vector<float>(), b.to_vector<float>());
    EXPECT_EQ(a.to_vector<float>(), c.to_vector<float>());
}

/// Rows of random numbers that `fill` makes; no two are equal.
template <class Fill>
void expect_different_rows(int rows, const Fill& fill) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        Tensor out = zeros({rows, 4});
        fill(out);
        Floats all = out.to_vector<float>();
        std::set<Floats> distinct;
        for (int row = 0; row < rows; ++row)
            distinct.insert(Floats(all.begin() + 4 * row, all.begin() + 4 * row + 4));
        EXPECT_EQ(distinct.size(), static_cast<size_t>(rows));
    }
}

TEST(Random, EveryIterationOfALoopHasItsOwnNumbers) {
    expect_different_rows(24, [](Tensor& out) {
        for (Tensor i : loop(4))
            for (Tensor j : loop(3)) {
                out(i * 3 + j) = rand({4});
                out(i * 3 + j + 12) = rand({4});
            }
    });
}

TEST(Random, EveryIterationOfAWhileHasItsOwnNumbers) {
    expect_different_rows(5, [](Tensor& out) {
        Tensor row = 0;
        while_([&] { return row < 5; },
               [&] {
                   out(row) = rand({4});
                   row += 1;
               });
    });
}

TEST(Random, ALoopChoosesItsStreams) {
    expect_different_rows(5, [](Tensor& out) {
        for (Tensor i : loop(5)) out(i) = rand({4}, {.seed = 2, .stream = i});
    });
}

TEST(Random, UniformNumbersFillTheirBins) {
    SessionScope scope(Session::oracle());
    constexpr int kCount = 6400, kBins = 64;
    Floats x = rand({kCount}, {.seed = 4}).to_vector<float>();
    std::array<int, kBins> bins{};
    for (float each : x) {
        ASSERT_GE(each, 0.0f);
        ASSERT_LT(each, 1.0f);
        ++bins[static_cast<size_t>(each * kBins)];
    }
    double chi = 0;
    for (int count : bins)
        chi += std::pow(count - kCount / double(kBins), 2) / (kCount / double(kBins));
    EXPECT_LT(chi, 103.4);  // 63 degrees of freedom, 0.1 percent
    EXPECT_GT(chi, 33.0);   // and not more even than chance
}

TEST(Random, NormalNumbersHaveTheirMoments) {
    SessionScope scope(Session::oracle());
    constexpr double kCount = 6000;
    Floats x = randn({6000}, {.seed = 4}).to_vector<float>();
    double mean = 0, square = 0, cube = 0, fourth = 0;
    for (double each : x) {
        mean += each / kCount;
        square += each * each / kCount;
        cube += each * each * each / kCount;
        fourth += each * each * each * each / kCount;
    }
    // Within four standard errors.
    EXPECT_NEAR(mean, 0, 4 / std::sqrt(kCount));
    EXPECT_NEAR(square, 1, 4 * std::sqrt(2 / kCount));
    EXPECT_NEAR(cube, 0, 4 * std::sqrt(15 / kCount));
    EXPECT_NEAR(fourth, 3, 4 * std::sqrt(96 / kCount));
}

TEST(Random, NeighboursAreNotCorrelated) {
    SessionScope scope(Session::oracle());
    constexpr size_t kCount = 6000;
    for (const RandomOptions& options :
         {RandomOptions{.seed = 1}, RandomOptions{.seed = 2, .stream = 5}}) {
        Floats x = rand({kCount}, options).to_vector<float>();
        double product = 0;
        for (size_t k = 1; k < kCount; ++k) product += (x[k] - 0.5) * (x[k - 1] - 0.5);
        EXPECT_NEAR(product / kCount * 12, 0, 4 / std::sqrt(double(kCount)));
    }
}

TEST(Random, NormalNumbersAreAlikeEverywhere) {
    Floats expected;
    {
        SessionScope scope(Session::oracle());
        expected = randn({100}, {.seed = 8}).to_vector<float>();
    }
    expect_values([] { return randn({100}, {.seed = 8}); }, expected, 1e-5);
}

TEST(Randint, CoversItsRangeEvenly) {
    SessionScope scope(Session::oracle());
    Ints counts(7);
    for (int x : randint(-3, 4, {7000}, {.seed = 6}).to_vector<int>()) {
        ASSERT_GE(x, -3);
        ASSERT_LT(x, 4);
        ++counts[static_cast<size_t>(x + 3)];
    }
    double chi = 0;
    for (int count : counts) chi += std::pow(count - 1000.0, 2) / 1000;
    EXPECT_LT(chi, 22.5);  // 6 degrees of freedom, 0.1 percent
}

TEST(Randint, BoundsMayBeTensors) {
    expect_values(
        [] {
            Tensor low = tensor({5, -5}), x = randint(low, low + 1, {2});
            return x;
        },
        Ints{5, -5});
}

TEST(Randint, AnEmptyRangeGivesItsLowEnd) {
    expect_values([] { return randint(5, 5, {2}); }, Ints{5, 5});
    expect_values([] { return randint(5, -5, {2}); }, Ints{5, 5});
}

TEST(Randint, TheWholeRangeOfIntegers) {
    SessionScope scope(Session::oracle());
    Ints x = randint(INT32_MIN, INT32_MAX, {100}).to_vector<int>();
    EXPECT_LT(*std::min_element(x.begin(), x.end()), -1000000000);
    EXPECT_GT(*std::max_element(x.begin(), x.end()), 1000000000);
}

TEST(Randint, FloatBoundsAreAnError) {
    expect_message(error_of([] { randint(0, Tensor(1.5f), {2}); }),
                   {"randint", "f32", "random_test.cpp:"});
}

uint32_t pcg_on_host(uint32_t v) {
    uint32_t state = v * 747796405u + 2891336453u;
    uint32_t word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

TEST(Pcg, IsThePublishedHash) {
    Words x{0, 1, 2, 12345, 0x7fffffff, 0x80000000, 0xffffffff}, expected;
    for (uint32_t each : x) expected.push_back(pcg_on_host(each));
    expect_values([&] { return pcg(tensor(x)); }, expected);
}

TEST(Pcg, OfAFloatIsAnError) {
    expect_message(error_of([] { pcg(ones({2})); }), {"pcg", "f32", "random_test.cpp:"});
}

}  // namespace
}  // namespace firn
