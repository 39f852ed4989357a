// Reading by tensors of indices, and movement made of it.
#include <functional>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

Shape shape_of(const std::function<Tensor()>& make) {
    SessionScope scope(Session::oracle());
    return make().shape();
}

Tensor counting(const Shape& shape) { return reshape(arange(element_count(shape)), shape); }

TEST(Take, ReadsSlicesAlongAnAxis) {
    expect_values(
        [] {
            return take(counting({2, 3}), tensor({2, 0}), {.axis = 1});
        },
        Ints{2, 0, 5, 3});
    expect_values(
        [] {
            return take(counting({3, 2}), tensor({2, 0, 2}), {.axis = 0});
        },
        Ints{4, 5, 0, 1, 4, 5});
}

TEST(Take, TheAxesOfTheIndicesReplaceTheAxis) {
    auto make = [] { return take(counting({2, 3, 4}), zeros({5, 6}, i32), {.axis = 1}); };
    EXPECT_EQ(shape_of(make), (Shape{2, 5, 6, 4}));
}

TEST(Take, WithoutAnAxisReadsTheFlattened) {
    expect_values([] { return take(counting({2, 3}), tensor({5, 1})); }, Ints{5, 1});
}

TEST(Take, OutsideIsTheEdge) {
    expect_values([] { return take(counting({3}), tensor({-1, 7}), {.axis = 0}); }, Ints{0, 2});
}

TEST(Take, FloatIndicesAreAnError) {
    expect_message(error_of([] { take(zeros({2}), ones({2})); }),
                   {"take", "f32", "cast", "indexing_test.cpp:"});
}

/// Indices that are 0, 7 and 5 in their lower 32 bits.
template <class T>
Tensor wide_indices() {
    const int64_t turn = int64_t{1} << 32;
    return tensor(std::vector<T>{T(turn), T(turn + 7), T(5)});
}

template <class T>
void expect_wide_indices_outside() {
    expect_values([] { return Tensor(counting({10})(wide_indices<T>())); }, Ints{9, 9, 5});
    expect_values([] { return take(counting({10}), wide_indices<T>()); }, Ints{9, 9, 5});
    expect_values([] { return zero(counting({10}) + 1)(wide_indices<T>()); }, Ints{0, 0, 6});
    // 2^32 is 6 modulo 10 and 16 modulo 20.
    expect_values([] { return wrap(counting({10}))(wide_indices<T>()); }, Ints{6, 3, 5});
    expect_values([] { return mirror(counting({10}))(wide_indices<T>()); }, Ints{3, 3, 5});
    const Ints only_the_last{0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
    expect_values(
        [] {
            Tensor x = zeros({10}, i32);
            x(wide_indices<T>()) = 1;
            return x;
        },
        only_the_last);
    expect_values(
        [] {
            Tensor x = zeros({10}, i32), i = wide_indices<T>();
            if_(i >= 0, [&] { x(i) = 1; });
            return x;
        },
        only_the_last);
    expect_values([] { return bincount(wide_indices<T>(), 10); }, only_the_last);
    expect_values([] { return segment_sum(ones({3}, i32), wide_indices<T>(), 10); }, only_the_last);
}

TEST(WideIndices, AreOutsideWhereTheirLowerBitsAreInside) {
    expect_wide_indices_outside<int64_t>();
    expect_wide_indices_outside<uint64_t>();
}

TEST(WideIndices, BelowZeroAreOutside) {
    const auto indices = [] {
        return tensor(std::vector<int64_t>{-1, -(int64_t{1} << 32), -(int64_t{1} << 32) + 3});
    };
    expect_values([&] { return Tensor(counting({10})(indices())); }, Ints{0, 0, 0});
    expect_values([&] { return wrap(counting({10}))(indices()); }, Ints{9, 4, 7});
    expect_values([&] { return sum(bincount(indices(), 10)); }, Ints{0});
}

TEST(NarrowIndices, ReadAndStore) {
    const auto bytes = [] { return tensor(std::vector<uint8_t>{255, 0, 200}); };
    const auto small = [] { return tensor(std::vector<int8_t>{-1, 127}); };
    expect_values([&] { return take(counting({300}), bytes()); }, Ints{255, 0, 200});
    expect_values([&] { return wrap(counting({300}))(small()); }, Ints{299, 127});
    expect_values([&] { return argmax(one_hot(bytes(), 300), {.axis = 1}); }, Ints{255, 0, 200});
    expect_values([&] { return sum(bincount(bytes(), 256) * arange(256)); }, Ints{455});
    expect_values([&] { return sum(bincount(small(), 300) * arange(300)); }, Ints{127});
    expect_values([&] { return sum(segment_sum(ones({2}, i32), small(), 300) * arange(300)); },
                  Ints{127});
}

TEST(Gather, ReadsElementsAlongAnAxis) {
    expect_values(
        [] {
            return gather(counting({2, 3}), tensor({2, 0, 1, 1}, {2, 2}));
        },
        Ints{2, 0, 4, 4});
    expect_values(
        [] {
            return gather(counting({2, 3}), tensor({1, 0, 1}, {1, 3}), {.axis = 0});
        },
        Ints{3, 1, 5});
}

TEST(Gather, OtherAxesBroadcast) {
    expect_values(
        [] {
            return gather(counting({2, 3}), tensor({2, 0}, {1, 2}));
        },
        Ints{2, 0, 5, 3});
    expect_values([] { return gather(counting({1, 3}), tensor({2, 0}, {2, 1})); }, Ints{2, 0});
}

TEST(Gather, OfAnotherRankIsAnError) {
    expect_message(error_of([] {
                       gather(zeros({2, 3}), tensor({1}));
                   }),
                   {"gather", "[2, 3]", "[1]", "rank", "indexing_test.cpp:"});
}

TEST(OneHot, HasAOneAtTheIndex) {
    expect_values(
        [] {
            return one_hot(tensor({1, 0, 5}), 3, {.dtype = i32});
        },
        Ints{0, 1, 0, 1, 0, 0, 0, 0, 0});
}

TEST(Triangles, KeepTheirSideOfTheDiagonal) {
    expect_values([] { return tril(counting({2, 3})); }, Ints{0, 0, 0, 3, 4, 0});
    expect_values([] { return triu(counting({2, 3})); }, Ints{0, 1, 2, 0, 4, 5});
    expect_values([] { return tril(counting({2, 3}), {.offset = 1}); }, Ints{0, 1, 0, 3, 4, 5});
    expect_values([] { return triu(counting({2, 1, 2}), {.offset = 1}); }, Ints{0, 1, 0, 3});
}

TEST(Triangles, OfAVectorAreAnError) {
    expect_message(error_of([] { tril(zeros({3})); }), {"tril", "[3]", "indexing_test.cpp:"});
}

TEST(Diagonals, OfBatchesAndOfAnyShape) {
    expect_values([] { return diagonal(counting({2, 2, 3})); }, Ints{0, 4, 6, 10});
    expect_values([] { return trace(counting({3, 2})); }, Ints{3});
}

TEST(Meshgrid, HasNumpysOrders) {
    auto grid = [](size_t k, GridOrder order) {
        return [=] { return meshgrid({tensor({1, 2, 3}), tensor({4, 5})}, {.order = order})[k]; };
    };
    expect_values(grid(0, GridOrder::Columns), Ints{1, 2, 3, 1, 2, 3});
    expect_values(grid(1, GridOrder::Columns), Ints{4, 4, 4, 5, 5, 5});
    expect_values(grid(0, GridOrder::Rows), Ints{1, 1, 2, 2, 3, 3});
    expect_values(grid(1, GridOrder::Rows), Ints{4, 5, 4, 5, 4, 5});
}

TEST(Meshgrid, OfAMatrixIsAnError) {
    expect_message(error_of([] {
                       meshgrid({zeros({2, 2})});
                   }),
                   {"meshgrid", "[2, 2]", "indexing_test.cpp:"});
}

TEST(Roll, GoesAroundTheEnd) {
    expect_values([] { return roll(counting({5}), 2); }, Ints{3, 4, 0, 1, 2});
    expect_values([] { return roll(counting({2, 3}), -1, {.axis = 1}); }, Ints{1, 2, 0, 4, 5, 3});
    expect_values([] { return roll(counting({2, 3}), 7, {.axis = 0}); }, Ints{3, 4, 5, 0, 1, 2});
    expect_values([] { return roll(counting({2, 2}), 1); }, Ints{3, 0, 1, 2});
}

TEST(Roll, ByATensor) {
    expect_values([] { return roll(counting({3}), sum(tensor({1, 1}))); }, Ints{1, 2, 0});
}

TEST(Roll, ByAFloatIsAnError) {
    expect_message(error_of([] { roll(counting({3}), 1.5f); }),
                   {"roll", "f32", "indexing_test.cpp:"});
}

TEST(Tile, RepeatsTheWhole) {
    expect_values([] { return tile(counting({2}), {3}); }, Ints{0, 1, 0, 1, 0, 1});
    expect_values([] { return tile(counting({2}), {2, 2}); }, Ints{0, 1, 0, 1, 0, 1, 0, 1});
    expect_values([] { return tile(counting({2, 1}), {2}); }, Ints{0, 0, 1, 1});
}

TEST(Repeat, RepeatsElements) {
    expect_values([] { return repeat(counting({2, 2}), 2); }, Ints{0, 0, 1, 1, 2, 2, 3, 3});
    expect_values(
        [] {
            return repeat(counting({2, 2}), 2, {.axis = 0});
        },
        Ints{0, 1, 0, 1, 2, 3, 2, 3});
}

TEST(Repeat, LessThanNeverIsAnError) {
    expect_message(error_of([] { repeat(zeros({2}), -1); }),
                   {"repeat", "-1", "indexing_test.cpp:"});
    expect_message(error_of([] { tile(zeros({2}), {-1}); }), {"tile", "-1", "indexing_test.cpp:"});
}

TEST(Axes, AreSplitAndMerged) {
    auto x = [] { return counting({2, 6, 3}); };
    EXPECT_EQ(shape_of([&] { return split_axis(x(), 1, {2, -1}); }), (Shape{2, 2, 3, 3}));
    EXPECT_EQ(shape_of([&] { return merge_axes(x(), 0, 1); }), (Shape{12, 3}));
    EXPECT_EQ(shape_of([&] { return merge_axes(x(), 1, -1); }), (Shape{2, 18}));
}

TEST(Axes, OfASymbolicSizeAreMerged) {
    expect_values(
        [] {
            auto f = compile([](Tensor x) { return merge_axes(x, 0, 1); }, {i32("n", "m")});
            return f(counting({2, 3}));
        },
        Ints{0, 1, 2, 3, 4, 5});
}

TEST(Axes, InTheWrongOrderAreAnError) {
    expect_message(error_of([] {
                       merge_axes(zeros({2, 2}), 1, 0);
                   }),
                   {"merge_axes", "axis 1", "axis 0", "indexing_test.cpp:"});
}

}  // namespace
}  // namespace firn
