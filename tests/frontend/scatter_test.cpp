// Stores at computed indices: collisions, combining stores, masks, versions. On the oracle and
// compiled.
#include <cmath>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

/// Everything here holds for the oracle and for compiled kernels on the host.
class Scatters : public ::testing::TestWithParam<bool> {
  protected:
    Session session_ = GetParam() ? Session::interpreter() : Session::oracle();
    SessionScope scope_{session_};
};
INSTANTIATE_TEST_SUITE_P(Executors, Scatters, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

Tensor wiggle(int n) { return (arange(n) * 7 + 3) % 5; }

TEST_P(Scatters, HistogramAddsHoweverManyMeet) {
    Tensor histogram = zeros({4}, i32);
    scatter_add(histogram(tensor({0, 1, 1, 3, 1, 0})), 1);
    EXPECT_EQ(histogram.to_vector<int>(), (Ints{2, 3, 0, 1}));
}

TEST_P(Scatters, FloatsAdd) {
    Tensor sums = ones({3});
    scatter_add(sums(tensor({2, 0, 2})), tensor({0.5f, 1.0f, 2.0f}));
    EXPECT_EQ(sums.to_vector<float>(), (Floats{2, 1, 3.5f}));
}

TEST_P(Scatters, EveryCombination) {
    Tensor at = tensor({0, 0, 1}), values = tensor({6, 3, 5}), start = tensor({5, 9, 2});
    auto after = [&](void (*combine)(const Access&, const Arg&)) {
        Tensor x = start;
        combine(x(at), values);
        return x.to_vector<int>();
    };
    EXPECT_EQ(after(scatter_add), (Ints{14, 14, 2}));
    EXPECT_EQ(after(scatter_mul), (Ints{90, 45, 2}));
    EXPECT_EQ(after(scatter_min), (Ints{3, 5, 2}));
    EXPECT_EQ(after(scatter_max), (Ints{6, 9, 2}));
    EXPECT_EQ(after(scatter_and), (Ints{5 & 6 & 3, 9 & 5, 2}));
    EXPECT_EQ(after(scatter_or), (Ints{5 | 6 | 3, 9 | 5, 2}));
    EXPECT_EQ(after(scatter_xor), (Ints{5 ^ 6 ^ 3, 9 ^ 5, 2}));
}

TEST_P(Scatters, TwoTargetsOfWhichOneIsComputedFromTheOther) {
    auto f = compile(
        [](Tensor x) {
            Tensor a = x % 19, b = x * 7, at = x * x % 5;
            a(at) = x + 1;
            if_(
                sum(a) % 2 == 0, [&] { scatter_add(a(at), 1); },
                [&] { b = b(index(b, 0) + 1) + 1; });
            scatter_add(a(at), 1), scatter_add(b(at), 2);
            return std::tuple{a, b};
        },
        {i32("n")});
    auto [a, b] = f(arange(5));
    EXPECT_EQ(a.to_vector<int>(), (Ints{2, 7, 2, 3, 6}));
    EXPECT_EQ(b.to_vector<int>(), (Ints{10, 19, 22, 29, 33}));
}

TEST_P(Scatters, FloatsTakeTheSmallestAndANanGivesWay) {
    Tensor low = full({2}, 4.0f), at = tensor({0, 0, 1});
    scatter_min(low(at), tensor({3.0f, std::nanf(""), -1.0f}));
    EXPECT_EQ(low.to_vector<float>(), (Floats{3, -1}));
}

TEST_P(Scatters, HalfFloatsCombine) {
    for (DType type : {f16, bf16}) {
        Tensor x = zeros({2}, type);
        scatter_add(x(tensor({1, 1, 1})), 0.25f);
        EXPECT_EQ(x.to_vector<float>(), (Floats{0, 0.75f}));
    }
}

TEST_P(Scatters, NarrowIntegersWrap) {
    for (DType type : {u8, i8, u16, i16}) {
        const int most = (1 << (8 * type.bytes() - type.is_signed())) - 1;
        Tensor x = full({3}, most).as(type), y = full({2}, 3).as(type), z = full({2}, 5).as(type);
        scatter_add(x(tensor({1, 1, 2})), 1);
        scatter_mul(y(tensor({1, 1, 1, 1, 1, 1})), 7);
        scatter_max(z(tensor({0, 0, 1})), tensor({9, 7, -1}));
        const auto wrapped = [&](int value) { return tensor({value}).as(type).item<int>(); };
        EXPECT_EQ(x.dtype(), type);
        EXPECT_EQ(x.to_vector<int>(), (Ints{most, wrapped(most + 2), wrapped(most + 1)}));
        EXPECT_EQ(y.to_vector<int>(), (Ints{3, wrapped(3 * 117649)}));
        EXPECT_EQ(z.to_vector<int>(), (Ints{9, type.is_signed() ? 5 : wrapped(-1)}));
    }
}

TEST_P(Scatters, WideTypesCombineWhereNoPositionsMeet) {
    for (DType type : {f64, i64, u64}) {
        // Along a column and a row that are numbers, and where data chooses one row of each.
        Tensor x = reshape(arange(12).as(type), {3, 4});
        scatter_add(x(arange(3), 1), tensor({10, 20, 30}).as(type));
        scatter_max(x(2, arange(4) ^ 1), 21);
        scatter_add(x(tensor({2})(0), arange(2)), 100);
        if (type.is_integer()) scatter_or(x(0, arange(2) ^ 1), 64);
        EXPECT_EQ(x.dtype(), type);
        EXPECT_EQ(x.to_vector<int>(), type.is_integer()
                                          ? (Ints{64, 75, 2, 3, 4, 25, 6, 7, 121, 139, 21, 21})
                                          : (Ints{0, 11, 2, 3, 4, 25, 6, 7, 121, 139, 21, 21}));
    }
}

TEST_P(Scatters, ReadsOfF64HaveGradients) {
    Tensor x = reshape(arange(6), {2, 3}).as(f64), k = tensor({1});
    const Tensor y = sum(x(all, 2) * 3.0) + sum(square(x(k(0)))) + x(1, 1);
    EXPECT_EQ(grad(y, x).to_vector<float>(), (Floats{0, 0, 3, 6, 9, 13}));
}

TEST_P(Scatters, NumbersIntoBoolsAreTruths) {
    Tensor any = zeros({3}, boolean), all = ones({3}, boolean);
    scatter_add(any(tensor({0, 2, 2})), tensor({0, 1, 1}));
    scatter_mul(all(tensor({0, 0, 1})), tensor({1, 0, 2}));
    EXPECT_EQ(any.to_vector<int>(), (Ints{0, 0, 1}));
    EXPECT_EQ(all.to_vector<int>(), (Ints{0, 1, 1}));
}

TEST_P(Scatters, IntoNarrowTypesInsideAKernelAreRefused) {
    for (DType type : {u8, i16, boolean})
        expect_parts(user_error([&] {
                         Tensor x = zeros({4}, type);
                         kernel({4}, [&](Tensor i) { scatter_add(x(i), 1); });
                     }),
                     {"inside kernel", type.name(), "i32", "scatter_test.cpp:"});
}

TEST_P(Scatters, LastPositionWins) {
    Tensor x = full({4}, -1), n = arange(20);
    x(wiggle(20)) = n;
    Ints expected{-1, -1, -1, -1};
    for (int k = 0; k < 20; ++k)
        if ((k * 7 + 3) % 5 < 4) expected[static_cast<size_t>((k * 7 + 3) % 5)] = k;
    EXPECT_EQ(x.to_vector<int>(), expected);
}

TEST_P(Scatters, LastInRowMajorOrderWinsInTwoDimensions) {
    Tensor x = zeros({2, 2}, i32);
    auto [i, j] = indices<2>({3, 5});
    x((i + j) % 2, j / 4) = 10 * i + j;
    EXPECT_EQ(x.to_vector<int>(), (Ints{22, 24, 23, 14}));
}

TEST_P(Scatters, RowsAreStoredWhole) {
    Tensor x = zeros({3, 2}, i32), rows = tensor({2, 0, 2});
    x(rows) = tensor({1, 2, 3, 4, 5, 6}, {3, 2});
    EXPECT_EQ(x.to_vector<int>(), (Ints{3, 4, 0, 0, 5, 6}));
}

TEST_P(Scatters, OutsideIsDropped) {
    Tensor x = zeros({3}, i32), at = tensor({-1, 3, 1, 100});
    x(at) = 7;
    scatter_add(x(at), 1);
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 8, 0}));
}

TEST_P(Scatters, PermutationWithAPromise) {
    Tensor x = zeros({5}), at = (arange(5) * 3) % 5;
    store(x(at), arange(0.0f, 5.0f), {.unique = true});
    EXPECT_EQ(x.to_vector<float>(), (Floats{0, 2, 4, 1, 3}));
}

TEST_P(Scatters, ReadsTheVersionBefore) {
    Tensor x = arange(6), at = (arange(6) + 1) % 6;
    x(at) = x(arange(6));
    EXPECT_EQ(x.to_vector<int>(), (Ints{5, 0, 1, 2, 3, 4}));
}

TEST_P(Scatters, OlderVersionsStay) {
    Tensor x = zeros({3}, i32), old = x;
    scatter_add(x(tensor({1, 1})), 2);
    Tensor between = x;
    scatter_add(x(tensor({0, 1})), 1);
    EXPECT_EQ(old.to_vector<int>(), (Ints{0, 0, 0}));
    EXPECT_EQ(between.to_vector<int>(), (Ints{0, 4, 0}));
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 5, 0}));
}

TEST_P(Scatters, NoPositionsAndNoElements) {
    Tensor x = ones({3}), none = zeros({0}, i32);
    x(none) = zeros({0});
    scatter_add(x(none), 1.0f);
    EXPECT_EQ(x.to_vector<float>(), (Floats{1, 1, 1}));
    Tensor square = ones({2, 2});
    square(index({1, 1, 0}, 1), 1) = zeros({1, 1, 0});
    scatter_max(square(index({1, 1, 0}, 1), 1), zeros({1, 1, 0}));
    EXPECT_EQ(square.to_vector<float>(), (Floats{1, 1, 1, 1}));
    Tensor empty = zeros({0});
    scatter_add(empty(tensor({0, 1})), 1.0f);
    EXPECT_EQ(empty.to_vector<float>(), Floats{});
}

TEST_P(Scatters, ConditionChoosesThePositions) {
    Tensor histogram = zeros({3}, i32), bin = tensor({0, 1, 2, 1, 0}),
           alive = tensor({1, 1, 0, 0, 1});
    if_(alive == 1, [&] { scatter_add(histogram(bin), 1); });
    EXPECT_EQ(histogram.to_vector<int>(), (Ints{2, 1, 0}));
}

TEST_P(Scatters, BothSidesStore) {
    Tensor count = zeros({2}, i32), x = tensor({-1.0f, 2.0f, 3.0f});
    if_(
        x < 0.0f, [&] { scatter_add(count(index(x, 0) * 0), 1); },
        [&] { scatter_add(count(index(x, 0) * 0 + 1), 1); });
    EXPECT_EQ(count.to_vector<int>(), (Ints{1, 2}));
}

TEST_P(Scatters, NestedConditionsJoin) {
    Tensor out = zeros({6}, i32), i = arange(6);
    if_(i > 1, [&] { if_(i < 4, [&] { out(i) = 5; }); });
    EXPECT_EQ(out.to_vector<int>(), (Ints{0, 0, 5, 5, 0, 0}));
}

TEST_P(Scatters, AnAssignedSideIsChosenElementByElement) {
    Tensor out = zeros({3}, i32), i = arange(3);
    if_(
        i == 1, [&] { out = i * 0 + 9; }, [&] { out(i) = i + 1; });
    EXPECT_EQ(out.to_vector<int>(), (Ints{1, 9, 3}));
}

TEST_P(Scatters, InALoopOfIterations) {
    Tensor histogram = zeros({4}, i32), x = arange(8);
    for (Tensor iteration : loop(3)) scatter_add(histogram((x + iteration) % 4), iteration + 1);
    EXPECT_EQ(histogram.to_vector<int>(), (Ints{12, 12, 12, 12}));
}

TEST_P(Scatters, ElementsThatLeftALoopStoreNoMore) {
    // Element k is halved until it is 0, and counted in every iteration.
    Tensor visits = zeros({9}, i32), x = arange(9), own = x;
    for (Tensor iteration : loop(10)) {
        if_(x == 0, [&] { break_(); });
        scatter_add(visits(own), 1);
        x = x / 2;
    }
    EXPECT_EQ(visits.to_vector<int>(), (Ints{0, 1, 2, 2, 3, 3, 3, 3, 4}));
}

TEST_P(Scatters, SymbolicSizes) {
    auto count = compile(
        [](Tensor bins, Tensor x) {
            scatter_add(bins(x), 1);
            return bins;
        },
        {i32("b"), i32("n")});
    for (int n : {1, 7, 1000, 4096}) {
        Ints got = count(zeros({5}, i32), wiggle(n)).to_vector<int>();
        Ints expected(5);
        for (int k = 0; k < n; ++k) ++expected[static_cast<size_t>((k * 7 + 3) % 5)];
        EXPECT_EQ(got, expected) << n;
    }
}

TEST_P(Scatters, IndexOfFloatTypeIsNamed) {
    Tensor x = zeros({3});
    expect_parts(user_error([&] { scatter_add(x(tensor({1.0f})), 1); }),
                 {"index", "f32", "scatter_test.cpp:"});
}

TEST_P(Scatters, ConditionMustFitThePositions) {
    Tensor x = zeros({3}), c = tensor({1, 0, 1, 1});
    expect_parts(user_error([&] { if_(c == 1, [&] { x(arange(3)) = 1.0f; }); }),
                 {"a store under a condition", "[4]", "[3]", "scatter_test.cpp:"});
}

}  // namespace
}  // namespace firn
