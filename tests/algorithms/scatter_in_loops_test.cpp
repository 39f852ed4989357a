// The iterations of a loop combine into one tensor, each position once in each iteration.
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

/// Runs as many iterations as an argument is long; in each of them every position adds to one of
/// three elements.
void expect_counts(int positions, int iterations) {
    SCOPED_TRACE(std::to_string(positions) + " positions, " + std::to_string(iterations) +
                 " iterations");
    auto counted = [=] {
        auto f = compile(
            [=](Tensor like, Tensor counts) {
                for (Tensor t : loop(Tensor(Size(like.shape()[0]))))
                    scatter_add(counts(index({positions}, 0) % 3), 1);
                return counts;
            },
            {i32("n"), i32(3)});
        return f(zeros({iterations}).as(i32), zeros({3}).as(i32));
    };
    std::vector<int> expected(3);
    for (int k = 0; k < positions; ++k) expected[static_cast<size_t>(k % 3)] += iterations;
    expect_values(counted, expected);
}

TEST(ScatterInLoops, AFewPositionsAddOnceInEachOfManyIterations) {
    for (const int positions : {1, 2, 7})
        for (const int iterations : {0, 1, 40, 1000}) expect_counts(positions, iterations);
}

TEST(ScatterInLoops, ManyPositionsAddOnceInEachOfAFewIterations) {
    for (const int iterations : {1, 5}) expect_counts(1000, iterations);
}

TEST(ScatterInLoops, WhatEachIterationAddsMayDependOnIt) {
    auto added = [] {
        Tensor out = zeros({2}).as(i32);
        for (Tensor t : loop(100)) scatter_add(out(t % 2), t);
        return out;
    };
    expect_values(added, std::vector<int>{2450, 2500});
}

}  // namespace
}  // namespace firn
