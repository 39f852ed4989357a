// Sizes that begin in an iteration of a loop.
#include <algorithm>
#include <deque>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

// --- breadth-first search by a frontier

constexpr int kRows = 9, kColumns = 13;

Ints maze() {
    Ints wall = random_ints(kRows * kColumns, 11, 0, 2);  // a third
    for (int& each : wall) each = each == 0;
    wall[0] = 0;
    return wall;
}

Ints distances_on_the_host(const Ints& wall) {
    Ints distance(wall.size(), -1);
    std::deque<int> open{0};
    distance[0] = 0;
    while (!open.empty()) {
        const int at = open.front(), row = at / kColumns, column = at % kColumns;
        open.pop_front();
        const int steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
        for (const auto& [down, right] : steps) {
            const int r = row + down, c = column + right, to = r * kColumns + c;
            if (r < 0 || c < 0 || r >= kRows || c >= kColumns || wall[to] || distance[to] >= 0)
                continue;
            distance[to] = distance[at] + 1;
            open.push_back(to);
        }
    }
    return distance;
}

/// Every iteration continues from the nodes that the last one reached.
Tensor distances(Tensor wall) {
    Tensor distance = full(wall.shape(), -1);
    distance(0, 0) = 0;
    Tensor reached = 1, iteration = 0;
    while_([&] { return reached > 0; },
           [&] {
               Tensor frontier = nonzero(distance == iteration);
               Tensor i = frontier(arange(frontier.size(0)), 0),
                      j = frontier(arange(frontier.size(0)), 1);
               iteration += 1;
               reached = 0;
               const int steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
               for (const auto& [down, right] : steps) {
                   Tensor r = i + down, c = j + right;
                   Tensor inside = (r >= 0) & (r < kRows) & (c >= 0) & (c < kColumns);
                   Tensor free = inside & (wall(r, c) == 0) & (distance(r, c) < 0);
                   distance(select(free, r, -1), c) = iteration;
                   reached += sum(free);
               }
           });
    return distance;
}

TEST(IterationSizes, ABreadthFirstSearchByAFrontier) {
    expect_values(
        [] {
            return distances(tensor(maze(), {kRows, kColumns}));
        },
        distances_on_the_host(maze()));
}

TEST(IterationSizes, TheWholeSearchIsOneProgramThatIsDispatchedIndirectly) {
    SessionScope scope(Session::interpreter(gpu_profile()));
    auto search = compile(distances, {i32(kRows, kColumns)});
    EXPECT_EQ(Tensor(search(tensor(maze(), {kRows, kColumns}))).to_vector<int>(),
              distances_on_the_host(maze()));
    EXPECT_GE(search.stats().indirect_dispatches, 1);
}

TEST(IterationSizes, EveryIterationOfACountedLoopHasItsOwn) {
    // x(i) goes down by its remainder until it is 0; the sum of the others is noted.
    Ints x{5, 3, 8, 1, 1, 9, 2}, sums;
    for (int step = 0; step < 12; ++step) {
        int sum = 0;
        for (int each : x)
            if (each > step) sum += each - step;
        sums.push_back(sum);
    }
    expect_values(
        [&] {
            Tensor all = tensor(x), out = zeros({12}, i32);
            for (Tensor step : loop(12)) out(step) = sum(compact(all, all > step) - step);
            return out;
        },
        sums);
}

TEST(IterationSizes, TwoInOneIterationAndOneOfTheOther) {
    Ints expected;
    for (int step = 0; step < 6; ++step) {
        int pairs = 0, fives = 0;
        for (int a = 0; a < 20; ++a)
            for (int b = 0; b < 20; ++b)
                if (a % 3 == step % 3 && b > 3 * step) pairs += a * b;
        for (int a = step % 3; a < 20; a += 3)
            if (a % 5 == 0) fives += a + 1;
        expected.insert(expected.end(), {pairs, fives});
    }
    expect_values(
        [] {
            Tensor x = arange(20), out = zeros({6, 2}, i32);
            for (Tensor step : loop(6)) {
                Tensor a = compact(x, x % 3 == step % 3), b = compact(x, x > 3 * step),
                       c = compact(a, a % 5 == 0);
                out(step, 0) = sum(unsqueeze(a, 1) * unsqueeze(b, 0));
                out(step, 1) = sum(c + 1);
            }
            return out;
        },
        expected);
}

TEST(IterationSizes, InNestedLoopsOfBoth) {
    Ints expected;
    int total = 0;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 3; ++j)
            for (int a = i; a < 10; ++a)
                for (int b = a; b < 10; ++b)
                    if (b % (j + 2) == 0) total += b - a;
    for (int i = 0; i < 4; ++i) expected.push_back(10 - i);
    expected.push_back(total);
    expect_values(
        [] {
            Tensor x = arange(10), out = zeros({5}, i32);
            for (Tensor i : loop(4)) {
                Tensor outer = compact(x, x >= i);
                out(i) = Tensor(outer.size(0));
                for (Tensor j : loop(3)) {
                    Tensor inner = compact(x, x % (j + 2) == 0);
                    Tensor a = unsqueeze(outer, 1),
                           b = unsqueeze(inner, 0);  // a size of each loop in one kernel
                    scatter_add(out(4), sum(select(b >= a, b - a, 0)));
                }
            }
            return out;
        },
        expected);
}

TEST(IterationSizes, CarriedByALoopInside) {
    // Neighbours: a loop of kernels over the size of an outer iteration.
    expect_values(
        [] {
            Tensor x = arange(12), out = zeros({4}, i32);
            for (Tensor i : loop(4)) {
                Tensor few = compact(x, x % (i + 1) == 0);
                for (Tensor j : loop(3)) few = few(index(few, 0) + 1) + j;
                out(i) = sum(few);
            }
            return out;
        },
        Ints{3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 4 * 11 + 36, 6 + 8 + 10 + 10 + 10 + 10 + 18,
             9 * 4 + 12, 8 * 3 + 9});
}

TEST(IterationSizes, UnderABranch) {
    Ints expected;
    for (int i = 0; i < 6; ++i) {
        int sum = -i;
        if (i % 2 == 0)
            for (int a = i; a < 9; ++a) sum += a;
        expected.push_back(sum);
    }
    expect_values(
        [] {
            Tensor x = arange(9), out = zeros({6}, i32);
            for (Tensor i : loop(6)) {
                Tensor here = 0;
                if_(i % 2 == 0, [&] { here = sum(compact(x, x >= i)); });
                out(i) = here - i;
            }
            return out;
        },
        expected);
}

TEST(IterationSizes, OfALoopOnASideOfABranchWhereTheOtherStores) {
    for (bool first : {true, false}) {
        Ints y;
        for (int k = 0; k < 9; ++k) y.push_back(10 * k);
        int total = 0;
        if (first) y[3] = 1;
        for (int i = 0; !first && i < 3; ++i)
            for (int k = i; k < 9; k += i + 2) y[static_cast<size_t>(k)] += k, total += k;
        y.push_back(total);
        expect_values(
            [&] {
                Tensor x = arange(9), y = arange(9) * 10, total = 0,
                       choice = (sum(x) == 36) == first;
                if_(
                    choice, [&] { y(3) = 1; },
                    [&] {
                        for (Tensor i : loop(3)) {
                            Tensor few = compact(x, (x >= i) & ((x - i) % (i + 2) == 0));
                            y(few) = y(few) + few;
                            total += sum(few);
                        }
                    });
                return concat({y, reshape(total, {1})});
            },
            y);
    }
}

TEST(IterationSizes, WhereElementsChooseTheirSide) {
    Ints expected;
    for (int k = 0; k < 9; ++k) expected.push_back(k > 4 ? 1 : 35);
    for (int k = 0; k < 9; ++k) expected.push_back(k > 4 ? 0 : 36 + 35 + 33);
    expect_values(
        [] {
            Tensor x = arange(9), y = arange(9), total = 0;
            if_(
                x > 4, [&] { y(x) = 1; },
                [&] {
                    for (Tensor i : loop(3)) {
                        Tensor few = compact(x, x > i);
                        y(x) = sum(few) + i;
                        total += sum(few);
                    }
                });
            return concat({y, total});
        },
        expected);
}

TEST(IterationSizes, OnASideOfABranchOfWhatTheOtherStores) {
    for (bool first : {true, false})
        expect_values(
            [&] {
                Tensor y = arange(9), choice = (sum(y) == 36) == first;
                if_(
                    choice, [&] { y(arange(5)) = full({5}, 1); },
                    [&] {
                        Tensor few = compact(y, y % 2 == 0);
                        y(few) = few + 100;
                    });
                return y;
            },
            first ? Ints{1, 1, 1, 1, 1, 5, 6, 7, 8} : Ints{100, 1, 102, 3, 104, 5, 106, 7, 108});
}

TEST(IterationSizes, OfALoopThatTakesNoIterationOrIsLeft) {
    for (int iterations : {0, 5})
        expect_values(
            [&] {
                Tensor x = arange(9), out = zeros({9}, i32), n = sum(full({3}, iterations)) / 3;
                for (Tensor i : loop(n)) {
                    Tensor few = compact(x, x > i);
                    if_(Tensor(few.size(0)) < 6, [&] { break_(); });
                    out(few) = i + 1;
                }
                return out;
            },
            iterations ? Ints{0, 1, 2, 3, 3, 3, 3, 3, 3} : Ints(9, 0));
}

TEST(IterationSizes, OfTheIterationItselfAndOfWhatIsCarried) {
    expect_values(
        [] {
            Tensor out = zeros({2, 5}, i32), n = 6;
            for (Tensor i : loop(5)) {
                out(0, i) = sum(arange(device_size(i, 4)) + 1);
                out(1, i) = sum(arange(device_size(n, 6)) + i);
                n -= 2;
            }
            return out;
        },
        Ints{0, 1, 3, 6, 10, 15, 10, 5, 0, 0});
}

TEST(IterationSizes, InACompiledFunctionThatALoopCalls) {
    expect_values(
        [] {
            auto above = compile([](Tensor x, Tensor least) { return sum(compact(x, x >= least)); },
                                 {i32("n"), i32()});
            auto all = compile(
                [](Tensor x) {
                    Tensor out = 0;
                    for (Tensor i : loop(x.size(0))) out += sum(compact(x, x >= i));
                    return out;
                },
                {i32("n")});
            Tensor out = zeros({3}, i32);
            for (Tensor i : loop(3)) out(i) = above(arange(5), i) + all(arange(3)) + all(arange(2));
            return out;
        },
        Ints{10 + 8 + 2, 10 + 8 + 2, 9 + 8 + 2});
}

TEST(IterationSizes, AKernelByHandOverOne) {
    expect_values(
        [] {
            Tensor x = arange(40), out = zeros({3, 40}, i32);
            for (Tensor i : loop(3)) {
                Tensor few = compact(x, x % (i + 2) == 0);
                kernel({few.size(0)}, [&](Tensor k) { out(i, few(k)) = k + 1; });
            }
            return sum(out, {.axis = 1});
        },
        Ints{210, 105, 55});
}

TEST(IterationSizes, OutsideOfTheirIterationsAreAnError) {
    expect_message(error_of([] {
                       Tensor x = arange(10), kept = 0;
                       for (Tensor i : loop(3)) kept = compact(x, x > i);
                       kept.to_vector<int>();
                   }),
                   {"a size of one iteration", "compact_padded", "iteration_sizes_test.cpp:"});
    expect_message(
        error_of([] {
            Tensor x = arange(10), total = 0;
            Size few = 0;
            for (Tensor i : loop(3)) {
                Tensor chosen = compact(x, x > i);
                few = chosen.size(0);
                total += sum(chosen);
            }
            (zeros({few}, i32) + total).to_vector<int>();
        }),
        {"an iteration of the loop", "outside of the loop", "iteration_sizes_test.cpp:"});
    expect_message(error_of([] {
                       Tensor x = arange(10), out = 0;
                       kernel({4}, [&](Tensor k) { x(k) = Tensor(device_size(sum(k), 4)); });
                   }),
                   {"kernel", "iteration_sizes_test.cpp:"});
}

TEST(IterationSizes, ChecksOfPromisesAndAssertionsLookIntoThem) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        Session session = way.session;
        SessionScope scope(session);
        auto f = compile(
            [](Tensor x) {
                Tensor out = 0;
                for (Tensor i : loop(4)) {
                    Tensor few = compact(x, x > i);
                    assert_value(few < 7, "few are small");
                    out += sum(few);
                }
                return out;
            },
            {i32("n")});
        EXPECT_EQ(Tensor(f(arange(7))).item<int>(), 21 + 20 + 18 + 15);
        try {
            f(arange(9));
            FAIL();
        } catch (const UserError& error) {
            expect_message(error.what(), {"few are small", "iteration_sizes_test.cpp:"});
        }
    }
}

}  // namespace
}  // namespace firn
