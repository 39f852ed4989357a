// Scans against a loop on the host.
#include <numeric>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

Ints running(const Ints& x) {
    Ints out(x.size());
    std::partial_sum(x.begin(), x.end(), out.begin());
    return out;
}

class Scan : public ::testing::TestWithParam<int> {};

TEST_P(Scan, CumsumOfAnySize) {
    Ints x = random_ints(static_cast<size_t>(GetParam()), 3, -9, 9);
    expect_values([&] { return cumsum(tensor(x)); }, running(x));
}

TEST_P(Scan, CumsumOfASymbolicSize) {
    Ints x = random_ints(static_cast<size_t>(GetParam()), 3, -9, 9);
    expect_values(
        [&] { return compile([](Tensor x) { return cumsum(x); }, {i32("n")})(tensor(x)); },
        running(x));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Scan, ::testing::Values(1, 2, 15, 16, 17, 100, 256, 257, 3000));

TEST(Scans, AlongAnAxisInTheMiddle) {
    Ints x = random_ints(2 * 40 * 3, 5, -9, 9), expected(x);
    for (size_t b = 0; b < 2; ++b)
        for (size_t k = 1; k < 40; ++k)
            for (size_t c = 0; c < 3; ++c)
                expected[(b * 40 + k) * 3 + c] += expected[(b * 40 + k - 1) * 3 + c];
    expect_values([&] { return cumsum(tensor(x, {2, 40, 3}), {.axis = 1}); }, expected);
}

TEST(Scans, WithoutAnAxisTheTensorIsFlattened) {
    expect_values([] { return cumsum(tensor({1, 2, 3, 4}, {2, 2})); }, Ints{1, 3, 6, 10});
}

TEST(Scans, ExclusiveStartsFromTheIdentity) {
    Ints x(70, 2), expected;
    for (int k = 0; k < 70; ++k) expected.push_back(2 * k);
    expect_values([&] { return cumsum(tensor(x), {.exclusive = true}); }, expected);
    expect_values([] { return cumprod(tensor({2, 3, 4}), {.exclusive = true}); }, Ints{1, 2, 6});
}

TEST(Scans, ReverseStartsAtTheEnd) {
    Ints x = random_ints(70, 7, -9, 9), turned(x.rbegin(), x.rend());
    Ints expected = running(turned);
    std::reverse(expected.begin(), expected.end());
    expect_values([&] { return cumsum(tensor(x), {.reverse = true}); }, expected);
}

TEST(Scans, CumprodMultiplies) {
    Floats x = random_floats(50, 2, 0.5f, 1.5f), expected(x);
    std::partial_sum(x.begin(), x.end(), expected.begin(), std::multiplies<>());
    expect_values([&] { return cumprod(tensor(x)); }, expected, 1e-5);
}

TEST(Scans, CummaxAndCumminKeepTheExtremum) {
    Floats x = random_floats(80, 4), highest(x), lowest(x);
    for (size_t k = 1; k < x.size(); ++k) {
        highest[k] = std::max(highest[k - 1], x[k]);
        lowest[k] = std::min(lowest[k - 1], x[k]);
    }
    expect_values([&] { return cummax(tensor(x)); }, highest);
    expect_values([&] { return cummin(tensor(x)); }, lowest);
}

TEST(Scans, CummaxOfIntegersReachesTheLowest) {
    Ints x(40, INT32_MIN);
    x[35] = INT32_MIN + 1;
    Ints expected(x);
    for (size_t k = 36; k < 40; ++k) expected[k] = INT32_MIN + 1;
    expect_values([&] { return cummax(tensor(x)); }, expected);
}

TEST(Scans, ExtremaKeepNarrowTypes) {
    for (DType type : {boolean, u8, i8, u16, i16}) {
        SCOPED_TRACE(type.name());
        const Scalar low = scalar_float(type.is_signed() ? -1e9 : 0, type),
                     high = scalar_float(1e9, type);
        Ints x(40, static_cast<int>(low.i)), falling(40, static_cast<int>(high.i));
        x[35] = static_cast<int>(high.i), falling[35] = static_cast<int>(low.i);
        for (bool most : {true, false}) {
            const Ints& from = most ? x : falling;
            const auto scanned = [&](const ScanOptions& options) {
                const Tensor values = tensor(from).as(type);
                return most ? cummax(values, options) : cummin(values, options);
            };
            Ints expected(40, from[0]);
            for (size_t k = 35; k < 40; ++k) expected[k] = from[35];
            expect_values([&] { return scanned({}).as(i32); }, expected);
            expected.pop_back();
            expected.insert(expected.begin(), from[0]);  // the identity of the type
            expect_values([&] { return scanned({.exclusive = true}).as(i32); }, expected);
            SessionScope scope(Session::oracle());
            EXPECT_EQ(scanned({}).dtype(), type);
        }
    }
}

TEST(Scans, NanStaysFromItsPlaceOn) {
    Floats x(40, 1.0f), expected;
    x[34] = NAN;
    for (int k = 0; k < 40; ++k) expected.push_back(k < 34 ? static_cast<float>(k + 1) : NAN);
    expect_values([&] { return cumsum(tensor(x)); }, expected);
}

/// Floats that are 0 in places: their running sums never fall, and stay where an element is 0.
void expect_rising(const Floats& sums, const Floats& x, bool falls) {
    int wrong = 0;
    for (size_t k = 1; k < x.size(); ++k) {
        const float step = falls ? sums[k - 1] - sums[k] : sums[k] - sums[k - 1];
        wrong += !(x[k] == 0 ? step == 0 : step >= 0);
    }
    EXPECT_EQ(wrong, 0);
}

Floats weights_with_zeros(size_t count, float sign) {
    Floats x = random_floats(count, 9, 0, 1);
    const Floats chance = random_floats(count, 10, 0, 1);
    for (size_t k = 0; k < count; ++k) x[k] = chance[k] < 0.4f ? 0 : sign * x[k] * x[k] * x[k];
    return x;
}

TEST(Scans, SumsOfWhatIsNotNegativeNeverFall) {
    for (int64_t n : {17, 256, 5000, 70001})
        for (float sign : {1.0f, -1.0f}) {
            const Floats x = weights_with_zeros(static_cast<size_t>(n), sign);
            for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
                SessionScope scope(Session::interpreter(profile));
                expect_rising(cumsum(tensor(x)).to_vector<float>(), x, sign < 0);
                Floats back = cumsum(tensor(x), {.reverse = true}).to_vector<float>(), turned(x);
                std::reverse(back.begin(), back.end());
                std::reverse(turned.begin(), turned.end());
                expect_rising(back, turned, sign < 0);
                Floats behind = cumsum(tensor(x), {.exclusive = true}).to_vector<float>(), late(x);
                std::rotate(late.begin(), late.end() - 1, late.end());
                expect_rising(behind, late, sign < 0);
                auto f = compile([](Tensor y) { return cumsum(y); }, {f32("n")});
                expect_rising(f(tensor(x)).to_vector<float>(), x, sign < 0);
            }
        }
}

TEST(Scans, SumsAcrossRowsNeverFall) {
    const int64_t n = 700, wide = 1100;
    const Floats x = weights_with_zeros(static_cast<size_t>(n * wide), 1);
    SessionScope scope(Session::interpreter());
    for (bool exclusive : {false, true}) {
        const Floats sums =
            cumsum(tensor(x, {n, wide}), {.axis = 0, .exclusive = exclusive}).to_vector<float>();
        for (int64_t i = 0; i < wide; i += 37) {
            Floats column, of;
            for (int64_t k = 0; k < n; ++k) {
                const int64_t at = exclusive ? k - 1 : k;
                column.push_back(sums[static_cast<size_t>(k * wide + i)]);
                of.push_back(at < 0 ? 0 : x[static_cast<size_t>(at * wide + i)]);
            }
            expect_rising(column, of, false);
        }
    }
}

TEST(Scans, SumsOfWhatIsOfAllMagnitudesNeverFall) {
    for (int64_t n : {257, 4097, 70001}) {
        Floats x = random_floats(static_cast<size_t>(n), 12, -20, 20);
        for (float& each : x) each = std::exp2(each);
        SessionScope scope(Session::interpreter());
        expect_rising(cumsum(tensor(x)).to_vector<float>(), x, false);
        // The scanned values may be computed in the kernels that scan them.
        expect_rising(cumsum(tensor(x) * 1.7f).to_vector<float>(), x, false);
        auto f = compile([](Tensor y) { return cumsum(y); }, {f32("n")});
        expect_rising(f(tensor(x)).to_vector<float>(), x, false);
    }
}

TEST(Scans, SumsRoundAsBlocksDo) {
    const int64_t n = 70001;  // 5 kinds of blocks
    const Floats x = random_floats(static_cast<size_t>(n), 13, 0, 1);
    SessionScope scope(Session::interpreter());
    const Floats sums = cumsum(tensor(x)).to_vector<float>();
    double exact = 0, worst = 0;
    for (size_t k = 0; k < x.size(); ++k) {
        exact += x[k];
        worst = std::max(worst, std::abs(sums[k] - exact) / exact);
    }
    EXPECT_LT(worst, 16 * 5 * 0x1p-24);
}

/// Checks sizes about those of blocks and of one group's scan; rows beside and inside.
TEST(Scans, OneGroupScansFewElements) {
    for (const int64_t n : {17, 63, 64, 65, 1000, 1024, 1025, 4096})
        for (const bool exclusive : {false, true})
            for (const bool reverse : {false, true}) {
                SessionScope scope(Session::interpreter());
                const auto f = compile(
                    [&](const Tensor& x) {
                        return cumsum(x, {.exclusive = exclusive, .reverse = reverse});
                    },
                    {i32(n)});
                const Ints got = f(arange(n)).to_vector<int>();
                EXPECT_EQ(f.stats().dispatches, 1) << n;
                Ints expected;
                const int last = static_cast<int>(n) - 1;
                for (int k = 0; k <= last; ++k) {
                    const int first = reverse ? k + exclusive : 0,
                              end = reverse ? last : k - exclusive;
                    expected.push_back((first + end) * (end - first + 1) / 2);
                }
                EXPECT_EQ(got, expected)
                    << n << " exclusive " << exclusive << " reverse " << reverse;
            }
    expect_values(
        [] {
            return cumsum(reshape(arange(60), {2, 30}), {.axis = 1});
        },
        [] {
            Ints out;
            for (int k = 0; k < 60; ++k) out.push_back(k % 30 ? out.back() + k : k);
            return out;
        }());
    expect_values(
        [] {
            return cumsum(reshape(arange(60), {30, 2}), {.axis = 0});
        },
        [] {
            Ints out;
            for (int k = 0; k < 60; ++k)
                out.push_back(k < 2 ? k : out[static_cast<size_t>(k) - 2] + k);
            return out;
        }());
}

TEST(Scans, MixedSignsAndNanAreStillSums) {
    Floats x = random_floats(3000, 4, -1, 1), expected;
    for (size_t k = 800; k < 1400; ++k) x[k] = std::abs(x[k]);
    double sum = 0;
    for (float each : x) expected.push_back(static_cast<float>(sum += each));
    expect_values([&] { return cumsum(tensor(x)); }, expected, 1e-4);
    x.assign(100, 0.0f), x[40] = 1, x[45] = NAN;
    expected.assign(40, 0.0f), expected.resize(45, 1.0f), expected.resize(100, NAN);
    expect_values([&] { return cumsum(tensor(x)); }, expected);
}

TEST(Scans, BoolsAreCounted) {
    expect_values([] { return cumsum(tensor({true, false, true})); }, Ints{1, 1, 2});
}

TEST(Scans, ALongScanTakesAFewKernels) {
    SessionScope scope(Session::interpreter());
    auto scan = compile([](Tensor x) { return cumsum(x); }, {f32(100000)});
    scan(ones({100000}));
    EXPECT_LE(scan.stats().dispatches, 8);
    EXPECT_LE(scan.stats().operations, 100000 * 80);
}

TEST(Scans, AMissingAxisIsAnErrorWithTheLine) {
    expect_message(error_of([] { cumsum(ones({3}), {.axis = 1}); }),
                   {"cumsum", "axis 1", "[3]", "scan_test.cpp:"});
}

/// Many short axes beside one another are walked along, one invocation each.
TEST(Scans, ManyShortAxesAreWalkedAlong) {
    for (bool exclusive : {false, true})
        for (bool reverse : {false, true})
            for (int axis : {0, 1, 2}) {
                const int64_t sizes[] = {axis == 0 ? 7 : 30, axis == 1 ? 7 : 40,
                                         axis == 2 ? 7 : 50};
                const int64_t count = sizes[0] * sizes[1] * sizes[2],
                              step = axis == 0   ? sizes[1] * sizes[2]
                                     : axis == 1 ? sizes[2]
                                                 : 1;
                const Ints x = random_ints(static_cast<size_t>(count), 5, -9, 9);
                Ints sums(x.size()), most(x.size());
                for (int64_t k = 0; k < count; ++k) {
                    const int64_t at = k / step % 7;
                    int sum = 0, large = INT32_MIN;
                    for (int64_t other = 0; other < 7; ++other) {
                        const bool counts = reverse ? other > at : other < at;
                        if (!counts && (exclusive || other != at)) continue;
                        const int value = x[size_t(k + (other - at) * step)];
                        sum += value, large = std::max(large, value);
                    }
                    sums[size_t(k)] = sum, most[size_t(k)] = large;
                }
                const Shape shape{sizes[0], sizes[1], sizes[2]};
                const ScanOptions options{.axis = axis, .exclusive = exclusive, .reverse = reverse};
                expect_values([&] { return cumsum(tensor(x, shape), options); }, sums);
                expect_values([&] { return cummax(tensor(x, shape), options); }, most);
                expect_values(
                    [&] {
                        auto f = compile([=](Tensor y) { return cumsum(y, options); },
                                         {f32("a", "b", "c")});
                        return f(tensor(x, shape).as(f32)).as(i32);
                    },
                    sums);
            }
}

/// A long axis across rows of many elements is walked along in blocks.
TEST(Scans, LongAxesAcrossRowsAreWalkedAlongInBlocks) {
    for (const int64_t n : {257, 512, 700})
        for (bool exclusive : {false, true})
            for (bool reverse : {false, true}) {
                const int64_t wide = 700;
                const Ints x = random_ints(static_cast<size_t>(2 * n * wide), 5, -9, 9);
                Ints sums(x.size());
                for (int64_t outer = 0; outer < 2; ++outer)
                    for (int64_t i = 0; i < wide; ++i) {
                        int sum = 0;
                        for (int64_t k = 0; k < n; ++k) {
                            const int64_t row = reverse ? n - 1 - k : k;
                            const auto at = size_t((outer * n + row) * wide + i);
                            sums[at] = exclusive ? sum : sum + x[at];
                            sum += x[at];
                        }
                    }
                const ScanOptions options{.axis = 1, .exclusive = exclusive, .reverse = reverse};
                SessionScope scope(Session::interpreter());
                const Tensor values = tensor(x, {2, n, wide});
                EXPECT_EQ(cumsum(values, options).to_vector<int>(), sums);
                auto f = compile([=](Tensor y) { return cumsum(y, options); }, {i32(2, "n", "w")});
                EXPECT_EQ(f(values).to_vector<int>(), sums);
            }
}

TEST(Scans, WalksHaveGradientsAndEdges) {
    expect_values(
        [] {
            Tensor x = ones({3, 2000}) * 2.0f, weights = reshape(arange(3).as(f32), {3, 1}) + 1.0f;
            Tensor g = grad(sum(square(cumsum(x, {.axis = 0})) * weights), x);
            return g(arange(3), full({3}, 1999));
        },
        std::vector<float>{56, 52, 36});
    expect_values([] { return sum(cumsum(zeros({0, 2000}), {.axis = 0})); }, std::vector<float>{0});
    expect_values(
        [] {
            return sum(cumsum(ones({2000, 1}), {.axis = 1}));
        },
        std::vector<float>{2000});
    expect_values(
        [] {
            return max(cumsum(ones({2000, 9}, f16), {.axis = 1}));
        },
        std::vector<float>{9});
}

}  // namespace
}  // namespace firn
