// Simulations in parts give the numbers of one process.
#include <firn/firn.h>
#include <firn/grid.h>
#include <gtest/gtest.h>

#include "tests/frontend/oracle_session.h"
#include "tests/mpi/world.h"

namespace firn {
namespace {

class Grids : public ::testing::Test {
  protected:
    Session session_ = why_no_cpu_session().empty() ? cpu_session() : Session::interpreter();
    SessionScope scope_{session_};
};

std::tuple<Tensor, Tensor> wave(Tensor u, Tensor v, Tensor dt) {
    auto [i, j] = indices<2>(u.shape());
    const Tensor laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
    const Tensor v_next = v + dt * laplacian;
    return {u + dt * v_next, v_next};
}

Tensor drop(const Shape& shape) {
    auto [i, j] = indices<2>(shape);
    return exp(-0.01f * (square(i.as(f32) - 9.0f) + square(j.as(f32) - 7.0f)));
}

TEST_F(Grids, AWaveHasTheBitsOfOneProcess) {
    const Shape shape{37, 29};
    auto whole = compile(wave, {f32("n", "m"), f32("n", "m"), f32()});
    Tensor u = drop(shape), v = zeros(shape);
    for (int k = 0; k < 20; ++k) std::tie(u, v) = whole(u, v, 0.3f);
    for (const bool columns : {false, true}) {
        const int n = world().size();
        Grid grid(world(), {{"n", 37}, {"m", 29}},
                  {.processes = columns ? std::vector<int>{1, n} : std::vector<int>{n, 1}});
        auto step = compile(grid, wave, {f32("n", "m"), f32("n", "m"), f32()});
        Tensor part_u = grid.part_of(drop(shape)), part_v = zeros(grid.part());
        for (int k = 0; k < 20; ++k) std::tie(part_u, part_v) = step(part_u, part_v, 0.3f);
        EXPECT_EQ(grid.gather(part_u).to_vector<float>(), u.to_vector<float>());
        EXPECT_EQ(grid.gather(part_v).to_vector<float>(), v.to_vector<float>());
        if (n > 1) {
            expect_parts(step.explain(),
                         {"argument 1: ", "along " + std::string(columns ? "m" : "n")});
            EXPECT_EQ(step.explain().find("argument 2: "), std::string::npos);
        }
    }
}

TEST_F(Grids, APeriodicStepHasTheBitsOfOneProcess) {
    const Shape shape{24, 20};
    const auto mixed = [](Tensor u) {
        auto [i, j] = indices<2>(u.shape());
        Reader at = wrap(u);
        return 0.2f * (at(i - 1, j - 1) + at(i + 1, j) + at(i, j + 2) + 2.0f * u);
    };
    auto whole = compile(mixed, {f32("n", "m")});
    Tensor u = drop(shape);
    for (int k = 0; k < 10; ++k) u = whole(u);
    Grid grid(world(), {{"n", 24}, {"m", 20}}, {.periodic = {true, true}});
    auto step = compile(grid, mixed, {f32("n", "m")});
    Tensor part = grid.part_of(drop(shape));
    for (int k = 0; k < 10; ++k) part = step(part);
    EXPECT_EQ(grid.gather(part).to_vector<float>(), u.to_vector<float>());
}

TEST_F(Grids, ReductionsAreOfTheWholeGrid) {
    Grid grid(world(), {{"n", 12}, {"m", 9}});
    auto step = compile(grid,
                        [](Tensor u) {
                            return std::tuple{max(u), u / sum(u)};
                        },
                        {f32("n", "m")});
    const Shape shape{12, 9};
    auto [most, share] = step(grid.part_of(drop(shape)));
    EXPECT_EQ(most.item<float>(), max(drop(shape)).item<float>());
    EXPECT_NEAR(sum(grid.gather(share)).item<float>(), 1, 1e-5);
}

TEST_F(Grids, WhatCannotBeDealtIsRefused) {
    const int many = 1000;
    (void)many;
    if (world().size() > 1) {
        expect_parts(user_error([] {
                         Grid(world(), {{"n", 1}});
                     }),
                     {"processes cannot share 1 positions", "start fewer"});
    }
    expect_parts(user_error([] {
                     Grid(world(), {{"n", 64}}, {.processes = {99}});
                 }),
                 {"`processes` are 99 together"});
    Grid grid(world(), {{"n", 64}});
    expect_parts(user_error([&] { grid.part_of(ones({3})); }), {"is not the grid's"});
    if (world().size() > 1) {
        expect_parts(
            user_error([&] { compile(grid, [](Tensor u) { return u - u(0); }, {f32("n")}); }),
            {"bounded by no number of neighbours", "grid_test.cpp:"});
    }
}

}  // namespace
}  // namespace firn
