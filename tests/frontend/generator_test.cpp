// Generators of random numbers: their formula, streams that never meet, and statistics.
#include <algorithm>
#include <array>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

using Words = std::vector<uint32_t>;

uint32_t pcg_on_host(uint32_t v) {
    uint32_t state = v * 747796405u + 2891336453u;
    uint32_t word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

/// Number `drawn` of the generator with this key and stream.
uint32_t bits_on_host(uint32_t key, uint32_t stream, uint32_t drawn) {
    uint32_t x = drawn * 747796405u;
    x = ((x ^ x >> 15) + key) * (pcg_on_host(key ^ pcg_on_host(stream)) | 1u);
    x = ((x >> ((x >> 28) + 4u)) ^ x) * 277803737u;
    return (x >> 22) ^ x;
}

/// `draws` rows of the numbers of all walkers.
Tensor rows(Generator random, const Size& walkers, int draws) {
    Tensor out = zeros({draws, walkers}, u32);
    for (Tensor iteration : loop(draws)) out(iteration) = random.bits();
    return out;
}

TEST(Generators, GiveNumbersByKeyStreamAndCounter) {
    Words plain, streams;
    for (uint32_t draw = 0; draw < 9; ++draw)
        for (uint32_t walker = 0; walker < 6; ++walker) {
            plain.push_back(bits_on_host(pcg_on_host(walker), 0, draw));
            streams.push_back(bits_on_host(walker, walker % 2 + 7, draw));
        }
    expect_values([] { return rows({pcg(arange(6))}, 6, 9); }, plain);
    expect_values([] { return rows({arange(6), arange(6) % 2 + 7}, 6, 9); }, streams);
}

TEST(Generators, AreArgumentsAndResultsOfCompiledFunctions) {
    expect_values(
        [] {
            const auto next = compile(
                [](Generator random) {
                    Tensor out = random.bits();
                    return std::tuple{out, random};
                },
                {u32("n"), u32(), u32()});
            Generator random{arange(4).as(u32)};
            std::vector<Tensor> all;
            for (int draw = 0; draw < 3; ++draw) {
                auto [bits, after] = next(random);
                all.push_back(bits);
                random = after;
            }
            return stack(all);
        },
        [] {
            Words out;
            for (uint32_t draw = 0; draw < 3; ++draw)
                for (uint32_t walker = 0; walker < 4; ++walker)
                    out.push_back(bits_on_host(walker, 0, draw));
            return out;
        }());
}

TEST(Generators, CountWhatEachElementDrew) {
    expect_values(
        [] {
            Generator random{arange(4)};
            if_(arange(4) > 1, [&] { random.bits(); });
            Tensor left = arange(4);
            while_([&] { return left > 0; },
                   [&] {
                       random.bits();
                       left -= 2;
                   });
            return random.bits();
        },
        Words{bits_on_host(0, 0, 0), bits_on_host(1, 0, 1), bits_on_host(2, 0, 2),
              bits_on_host(3, 0, 3)});
}

TEST(Generators, GiveEveryElementOfAMapItsOwnNumbers) {
    expect_values(
        [] {
            return vmap(
                [](const std::vector<Tensor>& sample) {
                    Generator random{sample[0]};
                    Tensor first = random.bits();
                    return first ^ random.bits();
                },
                {arange(3)});
        },
        Words{bits_on_host(0, 0, 0) ^ bits_on_host(0, 0, 1),
              bits_on_host(1, 0, 0) ^ bits_on_host(1, 0, 1),
              bits_on_host(2, 0, 0) ^ bits_on_host(2, 0, 1)});
}

TEST(Generators, RunInsideKernelsByHand) {
    expect_values(
        [] {
            Tensor out = zeros({5}, u32);
            kernel({5}, [&](Tensor i) {
                Generator random{i};
                if_(i > 2, [&] { random.bits(); });
                for (Tensor iteration : loop(2)) random.bits();
                out(i) = random.bits();
            });
            return out;
        },
        [] {
            Words out;
            for (uint32_t k = 0; k < 5; ++k) out.push_back(bits_on_host(k, 0, k > 2 ? 3 : 2));
            return out;
        }());
}

TEST(Generators, OfFloatsAreAnError) {
    expect_message(error_of([] { Generator{rand({3})}.bits(); }),
                   {"Generator", "key", "f32", "generator_test.cpp:"});
}

/// Pairs of successive numbers that occur twice among all walkers.
size_t shared_runs(uint32_t walkers, uint32_t draws, const auto& key, const auto& stream) {
    std::vector<uint64_t> pairs;
    pairs.reserve(size_t{walkers} * draws);
    for (uint32_t walker = 0; walker < walkers; ++walker)
        for (uint32_t draw = 0, last = 0; draw < draws; ++draw) {
            const uint32_t next = bits_on_host(key(walker), stream(walker), draw);
            if (draw > 0) pairs.push_back(uint64_t{last} << 32 | next);
            last = next;
        }
    std::sort(pairs.begin(), pairs.end());
    size_t equal = 0;
    for (size_t k = 1; k < pairs.size(); ++k) equal += pairs[k] == pairs[k - 1];
    return equal;
}

TEST(Generators, ShareNoRun) {
    const auto self = [](uint32_t k) { return k; };
    const auto none = [](uint32_t) { return 0u; };
    EXPECT_EQ(shared_runs(20000, 100, pcg_on_host, none), 0u);
    EXPECT_EQ(shared_runs(20000, 20, self, none), 0u);
    EXPECT_EQ(
        shared_runs(
            20000, 20, [](uint32_t k) { return k % 200; }, [](uint32_t k) { return k / 200; }),
        0u);
}

constexpr size_t kWalkers = 400, kDraws = 300;

/// The numbers of neighbouring walkers, as rows of draws.
const Words& table() {
    static const Words words = [] {
        Words out;
        for (uint32_t draw = 0; draw < kDraws; ++draw)
            for (uint32_t walker = 0; walker < kWalkers; ++walker)
                out.push_back(bits_on_host(walker, 0, draw));
        return out;
    }();
    return words;
}

TEST(Generators, SetEveryBitHalfOfTheTime) {
    for (int bit = 0; bit < 32; ++bit) {
        double ones = 0;
        for (uint32_t word : table()) ones += word >> bit & 1;
        const auto count = static_cast<double>(table().size());
        EXPECT_NEAR(ones / count, 0.5, 4.5 * 0.5 / std::sqrt(count)) << "bit " << bit;
    }
}

/// Returns the largest agreement of the bits of numbers `apart` places apart, in standard
/// deviations.
double agreement(size_t apart) {
    double most = 0;
    for (int a = 0; a < 32; ++a)
        for (int b = 0; b < 32; ++b) {
            int equal = 0, count = 0;
            for (size_t k = 0; k + apart < table().size(); k += 23, ++count)
                equal += (table()[k] >> a & 1) == (table()[k + apart] >> b & 1);
            most = std::max(most, std::abs(2.0 * equal - count) / std::sqrt(count));
        }
    return most;
}

TEST(Generators, BitsOfNeighboursAndOfSuccessiveDrawsDoNotAgree) {
    // 1024 pairs of bits: 5 deviations are reached with a probability of 0.0006.
    EXPECT_LT(agreement(1), 5.0);             // the next walker
    EXPECT_LT(agreement(kWalkers), 5.0);      // the next draw
    EXPECT_LT(agreement(kWalkers + 1), 5.0);  // the next draw of the next walker
    EXPECT_LT(agreement(2), 5.0);
    EXPECT_LT(agreement(2 * kWalkers), 5.0);
}

TEST(Generators, PairsFillTheSquare) {
    for (size_t apart : {size_t{1}, kWalkers}) {
        std::array<int, 256> bins{};
        double chi = 0, count = 0;
        for (size_t k = 0; k + apart < table().size(); ++k, ++count)
            ++bins[table()[k] >> 28 << 4 | table()[k + apart] >> 28];
        for (int each : bins) chi += std::pow(each - count / 256, 2) / (count / 256);
        EXPECT_LT(chi, 330.5) << apart;  // 255 degrees of freedom, 0.1 percent
        EXPECT_GT(chi, 190.0) << apart;
    }
}

TEST(Generators, NormalNumbersHaveTheirMoments) {
    SessionScope scope(Session::oracle());
    Generator random{arange(3000)};
    Floats x = random.normal().to_vector<float>(), y = random.normal().to_vector<float>();
    double mean = 0, square = 0, product = 0;
    for (size_t k = 0; k < 3000; ++k) {
        mean += double(x[k]) / 3000;
        square += double(x[k]) * double(x[k]) / 3000;
        product += double(x[k]) * double(y[k]) / 3000;
    }
    EXPECT_NEAR(mean, 0, 4 / std::sqrt(3000));
    EXPECT_NEAR(square, 1, 4 * std::sqrt(2 / 3000.0));
    EXPECT_NEAR(product, 0, 4 / std::sqrt(3000));
}

/// Darts at a square: how often the quarter circle is hit, counted inside one loop.
Tensor darts(int iterations) {
    Generator random{pcg(arange(64).as(u32))};
    Tensor hits = zeros({64}, i32);
    for (Tensor iteration : loop(iterations)) {
        Tensor x = random.uniform(), y = random.uniform();
        if_(x * x + y * y < 1.0f, [&] { hits += 1; });
    }
    return hits;
}

TEST(Generators, AreCarriedByLoops) {
    Ints expected;
    for (uint32_t k = 0; k < 64; ++k) {
        uint32_t drawn = 0;
        auto next = [&] {
            return static_cast<float>(bits_on_host(pcg_on_host(k), 0, drawn++) >> 8) * 0x1p-24f;
        };
        int hits = 0;
        for (int iteration = 0; iteration < 40; ++iteration) {
            float x = next(), y = next();
            hits += x * x + y * y < 1.0f;
        }
        expected.push_back(hits);
    }
    expect_values([] { return darts(40); }, expected);
}

TEST(Generators, DartsFindPi) {
    SessionScope scope(Session::oracle());
    int hits = 0;
    for (int each : darts(100).to_vector<int>()) hits += each;
    EXPECT_NEAR(hits / 1600.0, 3.14159, 4 * 1.642 / std::sqrt(6400));
}

}  // namespace
}  // namespace firn
