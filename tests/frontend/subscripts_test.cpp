// Ranges, new axes and masks as indices, against Python's rules.
#include <algorithm>
#include <optional>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

Tensor counted(const Shape& shape) { return reshape(arange(element_count(shape)), shape); }

class Subscripts : public ::testing::Test {
  protected:
    SessionScope scope_{Session::oracle()};
};

template <class Body>
std::string message_of(const Body& body) {
    try {
        body();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

// --- ranges --------------------------------------------------------------------------------------

/// The numbers of range(n)[begin:end:step], one after the other.
Ints by_python(int n, std::optional<int> begin, std::optional<int> end, int step) {
    auto counted = [&](std::optional<int> at, int otherwise) {
        return !at ? otherwise : *at < 0 ? *at + n : *at;
    };
    Ints out;
    if (step > 0)
        for (int k = std::max(counted(begin, 0), 0); k < std::min(counted(end, n), n); k += step)
            out.push_back(k);
    else
        for (int k = std::min(counted(begin, n - 1), n - 1),
                 last = end ? std::max(counted(end, 0), -1) : -1;
             k > last; k += step)
            out.push_back(k);
    return out;
}

TEST_F(Subscripts, RangesAreThoseOfPython) {
    const std::optional<int> places[] = {std::nullopt, -9, -5, -4, -1, 0, 1, 3, 4, 9};
    auto end_of = [](std::optional<int> at) { return at ? RangeEnd(*at) : RangeEnd(none); };
    for (int n : {0, 1, 4, 5})
        for (const auto& begin : places)
            for (const auto& end : places)
                for (int step : {1, 3, -1, -2}) {
                    const Tensor x = arange(n);
                    const Tensor got = x(range(end_of(begin), end_of(end), step));
                    ASSERT_EQ(got.to_vector<int>(), by_python(n, begin, end, step))
                        << n << ": " << begin.value_or(99) << " to " << end.value_or(99) << " by "
                        << step;
                }
}

TEST_F(Subscripts, StoresToRangesGoWhereReadsComeFrom) {
    const std::optional<int> places[] = {std::nullopt, -4, -1, 1, 9};
    auto end_of = [](std::optional<int> at) { return at ? RangeEnd(*at) : RangeEnd(none); };
    for (const auto& begin : places)
        for (const auto& end : places)
            for (int step : {1, 2, -1, -3}) {
                Tensor x = arange(5);
                x(range(end_of(begin), end_of(end), step)) *= 10;
                Ints expected = arange(5).to_vector<int>();
                for (int k : by_python(5, begin, end, step)) expected[static_cast<size_t>(k)] *= 10;
                ASSERT_EQ(x.to_vector<int>(), expected);
            }
}

TEST_F(Subscripts, ARangeKeepsItsAxisAndANumberTakesItAway) {
    const Tensor x = counted({4, 3, 5});
    EXPECT_EQ(x(range(2)).shape(), (Shape{2, 3, 5}));
    EXPECT_EQ(x(1, range(0, 2)).shape(), (Shape{2, 5}));
    EXPECT_EQ(x(all, 1).shape(), (Shape{4, 5}));
    EXPECT_EQ(x(all, 1, range(none, none, 2)).to_vector<int>(),
              (Ints{5, 7, 9, 20, 22, 24, 35, 37, 39, 50, 52, 54}));
    EXPECT_EQ(x(range(-1, none), 0, range(none, none, -2)).to_vector<int>(), (Ints{49, 47, 45}));
}

TEST_F(Subscripts, NewAxesAndTheEllipsis) {
    const Tensor x = counted({4, 3, 5});
    EXPECT_EQ(x(newaxis).shape(), (Shape{1, 4, 3, 5}));
    EXPECT_EQ(x(all, newaxis, 2).shape(), (Shape{4, 1, 5}));
    EXPECT_EQ(x(ellipsis, 2).shape(), (Shape{4, 3}));
    EXPECT_EQ(x(ellipsis, 2)(1, 1).item<int>(), 22);
    EXPECT_EQ(x(1, ellipsis, range(1, 3)).shape(), (Shape{3, 2}));
    EXPECT_EQ(x(1, ellipsis, 0, newaxis).to_vector<int>(), (Ints{15, 20, 25}));
    EXPECT_EQ(x(ellipsis).shape(), x.shape());
    EXPECT_EQ(x(1, 2, ellipsis, 3).item<int>(), 28);
    EXPECT_EQ(Tensor(7)(ellipsis, newaxis).to_vector<int>(), Ints{7});
}

TEST_F(Subscripts, AxesOfTensorsStandWhereNumpyPutsThem) {
    const Tensor x = counted({4, 3, 5, 2}), rows = tensor({0, 2, 1, 0, 2, 1}, {2, 3});
    EXPECT_EQ(x(all, rows).shape(), (Shape{4, 2, 3, 5, 2}));
    EXPECT_EQ(x(all, rows, rows).shape(), (Shape{4, 2, 3, 2}));
    EXPECT_EQ(x(rows, all, rows).shape(), (Shape{2, 3, 3, 2}));            // apart: in front
    EXPECT_EQ(x(all, 0, range(1, 3), rows(0)).shape(), (Shape{3, 4, 2}));  // a number counts
    EXPECT_EQ(x(all, rows, newaxis, range(2)).shape(), (Shape{4, 2, 3, 1, 2, 2}));
    // A smaller index tensor is broadcast to the larger one beside it.
    EXPECT_EQ(x(all, rows, rows(0)).shape(), (Shape{4, 2, 3, 2}));
    const Tensor picked = counted({2, 3, 4})(range(1, none), tensor({2, 0}), range(none, none, 3));
    EXPECT_EQ(picked.to_vector<int>(), (Ints{20, 23, 12, 15}));
    const Tensor apart = counted({2, 3, 4})(tensor({1, 0}), range(2), tensor({3, 1}));
    EXPECT_EQ(apart.to_vector<int>(), (Ints{15, 19, 1, 5}));
}

TEST_F(Subscripts, ANumberClampsAndARangeCountsFromTheEnd) {
    const Tensor x = counted({3});
    EXPECT_EQ(x(-1).item<int>(), 0);
    EXPECT_EQ(x(range(-1, none)).to_vector<int>(), Ints{2});
    EXPECT_EQ(counted({3, 2})(7, range(1)).to_vector<int>(), Ints{4});
    EXPECT_EQ(wrap(counted({3, 2}))(-1, range(1, 2)).to_vector<int>(), Ints{5});
    EXPECT_EQ(zero(counted({3, 2}))(all, 2).to_vector<int>(), (Ints{0, 0, 0}));
}

TEST_F(Subscripts, TheTransposeOfTensorsAndElements) {
    Tensor x = counted({2, 3});
    EXPECT_EQ(x.T().to_vector<int>(), (Ints{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(x(range(1)).T().shape(), (Shape{3, 1}));
}

TEST_F(Subscripts, EightAxes) {
    Tensor x = counted({2, 1, 3, 1, 2, 1, 2, 2});
    EXPECT_EQ(x(1, 0, 2, 0, 1, 0, 1, 1).item<int>(), 47);
    x(0, 0, 1, 0, 1, 0, all, 1) = -1;
    EXPECT_EQ(x(0, 0, 1, 0, 1).to_vector<int>(), (Ints{12, -1, 14, -1}));
    EXPECT_EQ(sum(x(ellipsis, range(1))).item<int>(), 24 * 23);
}

// --- stores --------------------------------------------------------------------------------------

TEST_F(Subscripts, StoresToParts) {
    Tensor x = zeros({3, 4}, i32);
    x(range(1, none), range(none, none, 2)) = tensor({1, 2, 3, 4}, {2, 2});
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0}));
    x(all, 3) = tensor({7, 8, 9});
    x(0, range(none, none, -1)) += tensor({1, 2, 3, 4});
    EXPECT_EQ(x.to_vector<int>(), (Ints{4, 3, 2, 8, 1, 0, 2, 8, 3, 0, 4, 9}));
    x(ellipsis, 1) = 5;
    x(newaxis, 2, newaxis, range(2)) = tensor({6, 6}, {1, 1, 2});
    EXPECT_EQ(x.to_vector<int>(), (Ints{4, 5, 2, 8, 1, 5, 2, 8, 6, 6, 4, 9}));
    x(range(0, 2)) = x(range(1, 3));
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 5, 2, 8, 6, 6, 4, 9, 6, 6, 4, 9}));
    x(5, all) = 1;  // outside: dropped
    x(range(2, 2)) = 1;
    EXPECT_EQ(x(0).to_vector<int>(), (Ints{1, 5, 2, 8}));
}

TEST_F(Subscripts, ScattersToPartsCombine) {
    Tensor x = zeros({2, 3}, i32);
    scatter_add(x(all, tensor({0, 2, 0})), 1);
    scatter_add(x(range(1, 2)), 10);
    scatter_max(x(x > 1), 11);
    EXPECT_EQ(x.to_vector<int>(), (Ints{11, 0, 1, 12, 11, 11}));
}

TEST_F(Subscripts, StoresToPartsUnderACondition) {
    Tensor x = counted({4}), y = counted({4});
    if_(x > 1, [&] {
        y(range(none, none, -1)) = x * 10;
        x(x < 3) = 7;
    });
    EXPECT_EQ(y.to_vector<int>(), (Ints{30, 20, 2, 3}));
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 1, 7, 3}));
}

TEST_F(Subscripts, AnAccessKeepsItsVersionAndOutlivesItsTensor) {
    Tensor x = counted({3});
    const auto part = x(range(1, none));
    x(range(1, none)) = 0;
    EXPECT_EQ(Tensor(part).to_vector<int>(), (Ints{1, 2}));
    auto of_a_local = [] {
        Tensor local = counted({3});
        return local(1);
    };
    EXPECT_EQ(Tensor(of_a_local()).item<int>(), 1);
    expect_message(message_of([&] { of_a_local() = 5; }), {"destroyed", "subscripts_test.cpp:"});
}

// --- masks ---------------------------------------------------------------------------------------

TEST_F(Subscripts, MasksOnTheLeft) {
    Tensor x = counted({2, 3}) - 2;
    x(x < 0) = 0;
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 0, 0, 1, 2, 3}));
    x(x > 1) += 10;
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 0, 0, 1, 12, 13}));
    x(x == 0) = counted({2, 3}) * 100;  // a value where each element is
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 100, 200, 1, 12, 13}));
    x(tensor({false, true})) = 2.75f;  // of the first axis: whole rows, converted
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 100, 200, 2, 2, 2}));
    x(all, tensor({true, false, true})) = tensor({5, 6}, {2, 1});
    EXPECT_EQ(x.to_vector<int>(), (Ints{5, 100, 5, 6, 2, 6}));
    x(1, tensor({true, false, false})) = 9;
    EXPECT_EQ(x.to_vector<int>(), (Ints{5, 100, 5, 9, 2, 6}));
    Tensor y = zeros({2, 3}, i32), mask = x > 5;
    y(mask) = x(mask);
    EXPECT_EQ(y.to_vector<int>(), (Ints{0, 100, 0, 9, 0, 6}));
}

TEST_F(Subscripts, MasksThatCannotBe) {
    Tensor x = counted({2, 3});
    Tensor mask = x > 2;
    expect_message(message_of([&] { Tensor y = x(mask); }),
                   {"compact(x, mask)", "select(mask, x, other)", "subscripts_test.cpp:"});
    expect_message(message_of([&] { x(mask) = tensor({1, 2}); }), {"a store by a mask", "[2]"});
    expect_message(message_of([&] {
                       x(mask) = zeros({2, 2, 3});
                   }),
                   {"[2, 2, 3]", "[2, 3]", "vector", "subscripts_test.cpp:"});
    expect_message(message_of([&] {
                       x(tensor({true, false, true})) = 1;
                   }),
                   {"mask [3]", "axis 0", "[2, 3]", "subscripts_test.cpp:"});
    expect_message(message_of([&] { x(x(0, 0) > 1) = 1; }), {"one bool", "if_", "subscripts_test"});
    expect_message(message_of([&] {
                       x(tensor({true, false}), tensor({true, false, true})) = 1;
                   }),
                   {"two masks", "&"});
    expect_message(message_of([&] {
                       x(tensor({true, false}), tensor({0, 1})) = 1;
                   }),
                   {"mask", "[2]", "select(mask, value, x)"});
}

TEST_F(Subscripts, WhatIndicesCannotBe) {
    Tensor x = counted({2, 3});
    expect_message(message_of([&] { Tensor y = x(all, all, all); }),
                   {"[2, 3]", "3 axes", "has 2", "subscripts_test.cpp:"});
    expect_message(message_of([&] { Tensor y = x(ellipsis, 0, ellipsis); }), {"ellipsis", "twice"});
    expect_message(message_of([&] { Tensor y = x(range(0, 2, 0)); }),
                   {"step is 0", "subscripts_test"});
    expect_message(message_of([&] { Tensor y = x(sum); }), {"function", "subscripts_test.cpp:"});
    expect_message(message_of([&] { x(range(0, 1)) = zeros({2, 3}); }), {"[2, 3]", "[1, 3]"});
    expect_message(message_of([&] { Tensor y = x(all, 0.5f); }), {"index 1 is f32", "cast"});
    expect_message(message_of([&] {
                       Tensor one = 1;
                       one(ellipsis) = 2;
                   }),
                   {"one number", "x = v"});
}

// --- sizes, gradients, batches -------------------------------------------------------------------

TEST_F(Subscripts, OfASymbolicAxis) {
    auto f = compile(
        [](Tensor x) {
            Tensor y = x;
            y(range(none, none, 2)) = -1;
            return std::tuple{x(range(2, -1)), x(range(none, none, -2)), x(range(-2, none)),
                              x(range(none, x.size(0) - 3)), y};
        },
        {i32("n")});
    for (int n : {3, 4, 7}) {
        const Tensor x = arange(n);
        auto [inner, back, end, front, stored] = f(x);
        EXPECT_EQ(inner.to_vector<int>(), by_python(n, 2, -1, 1));
        EXPECT_EQ(back.to_vector<int>(), by_python(n, std::nullopt, std::nullopt, -2));
        EXPECT_EQ(end.to_vector<int>(), by_python(n, -2, std::nullopt, 1));
        EXPECT_EQ(front.to_vector<int>(), by_python(n, std::nullopt, n - 3, 1));
        for (int k = 0; k < n; ++k)
            EXPECT_EQ(stored.to_vector<int>()[static_cast<size_t>(k)], k % 2 ? k : -1);
    }
    expect_message(message_of([&] { f(arange(2)); }), {"slice of [n]", "subscripts_test.cpp:"});
}

TEST(SubscriptsCompiled, OfASizeThatOnlyTheDeviceKnows) {
    expect_values(
        [] {
            auto f = compile(
                [](Tensor x) {
                    Tensor y = compact(x, x > 1);
                    y(range(none, none, -1)) = y * 2;
                    y(y > 8) = 0;
                    return y(range(none, none, 2));
                },
                {i32("n")});
            return f(arange(7));
        },
        Ints{0, 8, 4});  // 12, 10, 8, 6, 4
    SessionScope scope(Session::oracle());
    expect_message(message_of([] {
                       compile([](Tensor x) { return compact(x, x > 1)(range(1, none)); },
                               {i32("n")});
                   }),
                   {"only the device knows", "shape()", "subscripts_test.cpp:"});
}

TEST(SubscriptsCompiled, GiveWhatTheOracleGives) {
    expect_agreement([] {
        Tensor x = sin(counted({6, 5}).as(f32)), rows = tensor({4, 0, 4});
        x(range(1, -1), range(none, none, -2)) = x(range(none, 4), range(none, none, 2)) * 2.0f;
        x(x < 0.0f) = 0.0f;
        x(range(none, none, 3), tensor({true, false, true, true, false})) += 1.0f;
        Tensor part = x(newaxis, rows, range(none, none, -1));
        return concat({reshape(part, {-1}), reshape(x, {-1})});
    });
    expect_agreement([] {
        auto f = compile(
            [](Tensor x) {
                Tensor y = x;
                y(range(none, none, -2)) += x(range(none, none, 2));
                y(y > 4.0f) = -y;
                return y;
            },
            {f32("n")});
        return f(arange(9).as(f32));
    });
}

TEST(SubscriptsCompiled, StoresFuseAndCarryTheUsersLine) {
    SessionScope scope(Session::interpreter(gpu_profile()));
    auto f = compile(
        [](Tensor x) {
            x = x * 2.0f;
            x(x < 0.0f) = 0.0f;
            x(range(1, 3)) += 1.0f;
            return x;
        },
        {f32(1000)});
    EXPECT_EQ(f(zeros({1000})).to_vector<float>()[1], 1);
    EXPECT_EQ(f.stats().dispatches, 1);
    EXPECT_EQ(f.explain().find("access.cpp"), std::string::npos) << f.explain();
}

TEST_F(Subscripts, GradientsGoThroughRangesAndMasks) {
    auto loss = [](Tensor x) {
        Tensor y = x * 1.0f;
        y(range(none, none, 2)) *= 3.0f;
        y(y > 8.0f) = 0.0f;
        y(range(0, 2)) = x(range(-1, -3, -1)) * 5.0f;
        return sum(y(range(none, none, -1)) * tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f}));
    };
    Tensor x = tensor({1.0f, 2.0f, 1.5f, 2.5f, 4.0f});
    // y = 5 x4, 5 x3, 3 x2, x3, 0 (3 x4 > 8), weighed by 5, 4, 3, 2, 1.
    EXPECT_EQ(grad(loss(x), x).to_vector<float>(), (Floats{0, 0, 9, 22, 25}));
}

TEST_F(Subscripts, BatchesOfPrograms) {
    auto f = [](Tensor x) {
        Tensor y = x;
        y(range(1, none)) = x(range(none, -1)) * 10;
        y(y < 5) = -1;
        return y(range(none, none, -1));
    };
    const Tensor rows = counted({2, 3}),
                 got = vmap([&](const std::vector<Tensor>&x) { return f(x[0]); }, {rows});
    EXPECT_EQ(got.to_vector<int>(), (Ints{10, -1, -1, 40, 30, -1}));
    for (int k = 0; k < 2; ++k) EXPECT_EQ(got(k).to_vector<int>(), f(rows(k)).to_vector<int>());
}

TEST_F(Subscripts, InAKernelByHandAStoreIsOneElement) {
    Tensor x = zeros({4, 3}), y = counted({4, 3}).as(f32);
    kernel({4}, [&](Tensor i) { x(i, 0) = sum(y(i, range(1, none)), {.axis = -1}); });
    EXPECT_EQ(x.T()(0).to_vector<float>(), (Floats{3, 9, 15, 21}));
    expect_message(message_of([&] {
                       Tensor z = zeros({4, 3});
                       kernel({4}, [&](Tensor i) { z(i, all) = 1.0f; });
                   }),
                   {"one element", "subscripts_test.cpp:"});
}

}  // namespace
}  // namespace firn
