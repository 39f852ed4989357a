// Reads and stores whose index is clamped to a smaller shape: an element at its own index, or none.
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

using Ints = std::vector<int>;

TEST(KeptInside, AStoreInALoopReachesAsManyElementsAsItHas) {
    for (const int n : {0, 1, 2, 3}) {
        auto stored = [n] {
            auto f = compile(
                [](Tensor x) {
                    Tensor y = max(index({2, 2}, 1), {.axis = 1});
                    for (Tensor t : loop(1)) y(index(x.shape(), 0)) += 1;
                    return y;
                },
                {i32("m")});
            return f(zeros({n}).as(i32));
        };
        expect_values(stored, Ints{n > 0 ? 2 : 1, n > 1 ? 2 : 1});
    }
}

TEST(KeptInside, AStoreInALoopToAnEmptyTensor) {
    auto stored = [] {
        Tensor x = zeros({0}).as(i32);
        for (Tensor t : loop(2)) x(index({1}, 0)) += 1;
        return x;
    };
    expect_values(stored, Ints{});
}

/// Three iterations of x = step(x + 1 at the first three elements), from 0 1 2 3 4 on.
template <class Step>
void expect_turns(const Step& step, const Ints& expected) {
    auto iterations = [&] {
        Tensor x = arange(5);
        for (Tensor t : loop(3)) x = step(slice(x, {.begin = 0, .end = 3}) + 1);
        return x;
    };
    expect_values(iterations, expected);
}

TEST(KeptInside, WhatALoopCarriesIsPutTogetherFromItsOwnElements) {
    expect_turns([](Tensor part) { return concat({part, tensor({9, 9})}); }, {3, 4, 5, 9, 9});
    expect_turns([](Tensor part) { return pad(part, {.after = {2}}); }, {3, 4, 5, 0, 0});
    expect_turns([](Tensor part) { return fill(part, 7)(arange(5)); }, {3, 4, 5, 7, 7});
}

TEST(KeptInside, BehindTheEdgeALoopReadsOtherElements) {
    expect_turns([](Tensor part) { return part(arange(5)); }, {3, 4, 5, 5, 5});
    expect_turns([](Tensor part) { return wrap(part)(arange(5)); }, {3, 4, 5, 3, 4});
    expect_turns([](Tensor part) { return mirror(part)(arange(5)); }, {3, 4, 5, 5, 4});
}

TEST(KeptInside, AResultIsPartOfAnotherOne) {
    auto both = [] {
        Tensor x = arange(5) * 3, part = concat({wrap(x)(arange(3)), tensor({1, 2})});
        realize(x, part);
        return concat({x, part});
    };
    expect_values(both, Ints{0, 3, 6, 9, 12, 0, 3, 6, 1, 2});
}

TEST(KeptInside, AStoreAlongADiagonalInALoop) {
    auto stored = [] {
        Tensor x = zeros({1, 2}).as(i32);
        if_(
            x < 1, [] {},
            [&] {
                Tensor iteration = 1;
                while_([&] { return iteration < 3; },
                       [&] {
                           iteration += 1, x(index({1, 2}, 1), index({1, 2}, 1)) = 5;
                       });
            });
        for (Tensor t : loop(2)) x(index({1, 2}, 1), index({1, 2}, 1)) = x(0, index({1, 2}, 1)) + 1;
        return x;
    };
    expect_values(stored, Ints{2, 0});
}

TEST(KeptInside, AFewElementsInALoopThatEachOfManyEnds) {
    auto stored = [] {
        Tensor x = zeros({1}).as(i32), counter = index({6, 1, 5}, 0);
        while_([&] { return (counter < 1) & (counter != counter); },
               [&] {
                   if_(counter == index({1, 1, 5}, 0), [&] { x(1) = 1; });
               });
        return x;
    };
    expect_values(stored, Ints{0});
}

/// `part` of x = 2 4 6 8 10, while x is a result of the same kernel.
template <class Part>
void expect_beside(const Part& part, const Ints& expected) {
    auto beside = [&] {
        Tensor x = (arange(5) + 1) * 2, y = part(x);
        realize(x, y);
        return y;
    };
    expect_values(beside, expected);
}

TEST(KeptInside, OneElementThatSeveralReadIsNotEachOnesOwn) {
    const auto at = [](const Tensor& x, int k) { return slice(x, {.begin = k, .end = k + 1}); };
    expect_beside(
        [&](const Tensor& x) {
            return concat({at(x, 0), at(x, 0), at(x, 0)});
        },
        {2, 2, 2});
    expect_beside(
        [&](const Tensor& x) {
            return concat({at(x, 1), at(x, 0), at(x, 2)}) + x(-1);
        },
        {6, 4, 8});
    expect_beside([&](const Tensor& x) { return at(x, 0)(arange(5)) + 1; }, {3, 3, 3, 3, 3});
    expect_beside([&](const Tensor& x) { return slice(x, {.begin = 0, .end = 3})(arange(5)) + 1; },
                  {3, 5, 7, 7, 7});
}

TEST(KeptInside, AStoreTakesTheElementThatItReads) {
    auto stored = [] {
        Tensor x = stack({Tensor(2), Tensor(1)}), y = full({2}, 3.0f);
        y(1) = x(-1);
        realize(x, y);
        return y;
    };
    expect_values(stored, std::vector<float>{3, 2});
}

}  // namespace
}  // namespace firn
