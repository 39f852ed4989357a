// while_ and continue_: per element, nested, with stores. On the oracle and compiled.
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class Whiles : public ::testing::TestWithParam<bool> {
  protected:
    Session session_ = GetParam() ? Session::interpreter() : Session::oracle();
    SessionScope scope_{session_};
};
INSTANTIATE_TEST_SUITE_P(Executors, Whiles, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

Ints collatz(int n) {
    Ints out;
    for (int k = 1; k <= n; ++k) {
        int steps = 0;
        for (int x = k; x != 1; x = x % 2 ? 3 * x + 1 : x / 2) ++steps;
        out.push_back(steps);
    }
    return out;
}

TEST_P(Whiles, EveryElementEndsOnItsOwn) {
    Tensor x = arange(30) + 1, steps = zeros({30}, i32);
    while_([&] { return x != 1; },
           [&] {
               x = select(x % 2 == 1, 3 * x + 1, x / 2);
               steps += 1;
           },
           {.max_steps = 200});
    EXPECT_EQ(steps.to_vector<int>(), collatz(30));
}

TEST_P(Whiles, AScalarCondition) {
    Tensor x = 100, iterations = 0;
    while_([&] { return x > 3; }, [&] { x = x / 2, iterations += 1; }, {.max_steps = 50});
    EXPECT_EQ(x.item<int>(), 3);
    EXPECT_EQ(iterations.item<int>(), 5);
}

TEST_P(Whiles, NoIterationLeavesTheValues) {
    Tensor x = tensor({5, 6});
    while_([&] { return x < 0; }, [&] { x = x * 0; }, {.max_steps = 9});
    EXPECT_EQ(x.to_vector<int>(), (Ints{5, 6}));
}

TEST_P(Whiles, MaxStepsEndsIt) {
    Tensor x = 0;
    while_([&] { return x >= 0; }, [&] { x += 1; }, {.max_steps = 7});
    EXPECT_EQ(x.item<int>(), 7);
}

TEST_P(Whiles, ContinueSkipsTheRestOfTheIteration) {
    Tensor sum = zeros({3}, i32), x = arange(3);
    for (Tensor i : loop(10)) {
        if_(i % 3 == x, [&] { continue_(); });
        sum += i;
    }
    EXPECT_EQ(sum.to_vector<int>(), (Ints{45 - 18, 45 - 12, 45 - 15}));
}

TEST_P(Whiles, ContinueForAllElements) {
    Tensor sum = 0;
    for (Tensor i : loop(5)) {
        sum += i;
        continue_();
        sum += 100;
    }
    EXPECT_EQ(sum.item<int>(), 10);
}

TEST_P(Whiles, AnElementThatContinuedDoesNotBreak) {
    Tensor sum = zeros({2}, i32), x = arange(2);
    for (Tensor i : loop(6)) {
        if_(x == 1, [&] { continue_(); });
        if_(i == 2, [&] { break_(); });
        sum += 1;
    }
    EXPECT_EQ(sum.to_vector<int>(), (Ints{2, 0}));
}

TEST_P(Whiles, ContinueIsOfTheInnermostLoop) {
    Tensor inner = 0, outer = 0;
    for (Tensor i : loop(3)) {
        for (Tensor j : loop(4)) {
            if_(j == i, [&] { continue_(); });
            inner += 1;
        }
        outer += 1;
    }
    EXPECT_EQ(inner.item<int>(), 9);
    EXPECT_EQ(outer.item<int>(), 3);
}

TEST_P(Whiles, ContinuedElementsStoreNothing) {
    Tensor count = zeros({4}, i32), x = arange(4);
    for (Tensor i : loop(3)) {
        if_(x == i, [&] { continue_(); });
        scatter_add(count(x), 1);
    }
    EXPECT_EQ(count.to_vector<int>(), (Ints{2, 2, 2, 3}));
}

TEST_P(Whiles, ElementsThatABranchLeavesOutDoNotKeepALoopRunning) {
    // The inner loop would never end where x <= 0.
    Tensor x = tensor({8, -1, 3, 0}), iterations = zeros({4}, i32);
    if_(x > 0, [&] {
        Tensor y = x;
        while_([&] { return y != 0; }, [&] { y = y / 2, iterations += 1; }, {.max_steps = 1000000});
    });
    EXPECT_EQ(iterations.to_vector<int>(), (Ints{4, 0, 2, 0}));
}

TEST_P(Whiles, ABranchThatIsNotTakenDoesNotKeepALoopOfKernelsRunning) {
    session_.limit_while(50);
    Tensor pace = tensor({0})(0), x = arange(6), i = arange(6);
    if_(pace > 0, [&] {
        for ([[maybe_unused]] Tensor iteration : loop(2)) {
            Tensor left = x;
            while_([&] { return left > 0; }, [&] { left = left - pace, x = x(i - 1) + 1; });
        }
    });
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 1, 2, 3, 4, 5}));
}

TEST_P(Whiles, Nested) {
    // The loop counts, for every element, the pairs (a, b) with a > b >= 0, a up to the element.
    Tensor n = arange(5), pairs = zeros({5}, i32), a = zeros({5}, i32);
    while_([&] { return a < n; },
           [&] {
               a += 1;
               Tensor b = zeros({5}, i32);
               while_([&] { return b < a; }, [&] { b += 1, pairs += 1; }, {.max_steps = 100});
           },
           {.max_steps = 100});
    EXPECT_EQ(pairs.to_vector<int>(), (Ints{0, 1, 3, 6, 10}));
}

TEST_P(Whiles, WithoutABound) {
    // More iterations than a driver may allow one invocation.
    Tensor x = tensor({3, 200000, 70000}), iterations = zeros({3}, i32);
    while_([&] { return x > 0; }, [&] { x -= 2, iterations += 1; });
    EXPECT_EQ(iterations.to_vector<int>(), (Ints{2, 100000, 35000}));
}

TEST_P(Whiles, BoundsThatATensorHolds) {
    Tensor bounds = tensor({2, 50, 3}), sum = zeros({2}, i32), x = arange(2) + 1;
    for (Tensor i : loop(bounds(0), bounds(1), bounds(2))) sum += i * x;
    int expected = 0;
    for (int i = 2; i < 50; i += 3) expected += i;
    EXPECT_EQ(sum.to_vector<int>(), (Ints{expected, 2 * expected}));
}

TEST_P(Whiles, BoundsThatATensorHoldsCountDown) {
    Tensor bounds = tensor({40, 1, -4, 0}), sum = zeros({3}, i32);
    for (Tensor i : loop(bounds(0), bounds(1), bounds(2))) sum += i;
    for (Tensor i : loop(bounds(1), bounds(0), bounds(2))) sum += 1000;
    int expected = 0;
    for (int i = 40; i > 1; i += -4) expected += i;
    EXPECT_EQ(sum.to_vector<int>(), (Ints{expected, expected, expected}));
}

TEST_P(Whiles, NeighboursAreReadUntilNothingChanges) {
    // The largest value spreads by one place per iteration: 40 iterations of several kernels.
    Tensor x = zeros({41}, i32), i = index(x, 0), iterations = 0, changed = true;
    x(0) = 7;
    while_([&] { return changed; },
           [&] {
               Tensor next = max(x, x(i - 1));
               changed = any(next != x);
               x = next;
               iterations += 1;
           });
    EXPECT_EQ(x.to_vector<int>(), Ints(41, 7));
    EXPECT_EQ(iterations.item<int>(), 41);
}

TEST_P(Whiles, NeighboursThatLeaveOneByOne) {
    // Element k takes the value of its left neighbour for k iterations.
    Tensor x = arange(30), i = index(x, 0), left = arange(30);
    while_([&] { return left > 0; }, [&] { x = x(i - 1), left -= 1; });
    Ints expected(30), other(30);
    for (int k = 0; k < 30; ++k) expected[static_cast<size_t>(k)] = k;
    for (int iteration = 0; iteration < 30; ++iteration) {
        other = expected;
        for (int k = 0; k < 30; ++k)
            if (iteration < k) expected[static_cast<size_t>(k)] = other[static_cast<size_t>(k - 1)];
    }
    EXPECT_EQ(x.to_vector<int>(), expected);
}

TEST_P(Whiles, NeighboursForAsManyIterationsAsATensorSays) {
    Tensor x = arange(50), i = index(x, 0), many = tensor({37});
    for (Tensor iteration : loop(many(0))) x = x(i - 1) + iteration * 0;
    Ints expected(50);
    for (int k = 0; k < 50; ++k) expected[static_cast<size_t>(k)] = std::max(k - 37, 0);
    EXPECT_EQ(x.to_vector<int>(), expected);
}

TEST_P(Whiles, AnOpenLoopInAnOpenLoop) {
    // Shift by one place as often as the element's group says, group after group.
    Tensor x = arange(8), i = index(x, 0), groups = tensor({2, 0, 3}), group = 0;
    while_([&] { return group < 3; },
           [&] {
               Tensor left = groups(group);
               while_([&] { return left > 0; }, [&] { x = x(i - 1), left -= 1; });
               group += 1;
           });
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 0, 0, 0, 0, 0, 1, 2}));
}

TEST_P(Whiles, MaxStepsEndsALoopOfKernels) {
    Tensor x = arange(60), i = index(x, 0);
    while_([&] { return x(0) == 0; }, [&] { x = x(i - 1); }, {.max_steps = 21});
    Ints expected(60);
    for (int k = 0; k < 60; ++k) expected[static_cast<size_t>(k)] = std::max(k - 21, 0);
    EXPECT_EQ(x.to_vector<int>(), expected);
}

TEST_P(Whiles, ContinueOutsideALoopIsNamed) {
    expect_parts(user_error([] { continue_(); }),
                 {"continue_", "no recorded loop", "while_test.cpp:"});
}

// --- loops that never end
// --------------------------------------------------------------------------

const std::vector<std::string> kNeverEnds{"while_: its condition still held",
                                          "Session::limit_while", "FIRN_MAX_STEPS",
                                          "while_test.cpp:"};

TEST_P(Whiles, AnElementThatNeverEndsIsAnError) {
    session_.limit_while(300);
    auto f = compile(
        [](Tensor x) {
            while_([&] { return x != 7; }, [&] { x += 1; });
            return x;
        },
        {i32("n")});
    expect_parts(user_error([&] { f(tensor({3, 8, 1})); }), kNeverEnds);
    EXPECT_EQ(f(tensor({3, -280, 7})).to_vector<int>(), (Ints{7, 7, 7}));
}

TEST_P(Whiles, ALoopOfKernelsThatNeverEndsIsAnError) {
    session_.limit_while(100);
    auto spread = [](int to) {
        Tensor x = zeros({60}, i32), i = index(x, 0);
        x(0) = 1;
        while_([&] { return sum(x) < to; }, [&] { x = max(x, x(i - 1)); });
        return sum(x).item<int>();
    };
    EXPECT_EQ(spread(50), 50);
    expect_parts(user_error([&] { spread(61); }), kNeverEnds);
}

TEST_P(Whiles, AConditionThatIsAlwaysTrueIsAnError) {
    session_.limit_while(10);
    expect_parts(user_error([] {
                     Tensor x = 1;
                     while_([&] { return Tensor(true); }, [&] { x *= 3; });
                     x.item<int>();
                 }),
                 kNeverEnds);
    Tensor y = 1;
    while_([&] { return Tensor(true); }, [&] { y *= 3, if_(y > 700, [&] { break_(); }); });
    EXPECT_EQ(y.item<int>(), 729);
}

TEST_P(Whiles, ABodyThatLeavesItsValueAsItWasIsAnError) {
    session_.limit_while(20);
    auto number = [] {
        Tensor x = 0;
        while_([&] { return x < 1; }, [&] { x = x * 1; });
        return x;
    };
    auto elements = [] {
        Tensor x = arange(4);
        while_([&] { return x < 3; }, [&] { x = x * 1; });
        return x;
    };
    auto beside_another = [] {
        Tensor x = arange(4), y = arange(4);
        while_([&] { return y < 3; }, [&] { x = x * 1, y = min(y, 1 - y); });
        return x;
    };
    auto nothing = [] {
        Tensor x = sum(arange(4));
        while_([&] { return x < 30; }, [] {});
        return x + 1;
    };
    for (const std::function<Tensor()>& program :
         {std::function<Tensor()>(number), std::function<Tensor()>(elements),
          std::function<Tensor()>(beside_another), std::function<Tensor()>(nothing)})
        expect_parts(user_error([&] { sum(program()).item<int>(); }), kNeverEnds);
    Tensor x = arange(4);
    while_([&] { return x < 0; }, [&] { x = x * 1; });
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 1, 2, 3}));
}

TEST_P(Whiles, OneInsideAnotherIsAnErrorToo) {
    session_.limit_while(40);
    Tensor x = arange(4), iterations = zeros({4}, i32);
    for (Tensor i : loop(3)) {
        Tensor left = x + i;
        while_([&] { return left != 0; },
               [&] { left = select(left == 5, 5, left - 1), iterations += 1; });
    }
    expect_parts(user_error([&] { iterations.to_vector<int>(); }), kNeverEnds);
}

TEST_P(Whiles, ABreakInsideMayDependOnAllElementsOfALoopAround) {
    Tensor a = arange(4), b = zeros({4}, i32);
    for ([[maybe_unused]] Tensor iteration : loop(3)) {
        for ([[maybe_unused]] Tensor inner : loop(2)) {
            b += 1;
            if_(sum(a) % 8 == 6, [&] { break_(); });
        }
        a += 1;
    }
    EXPECT_EQ(b.to_vector<int>(), (Ints{4, 4, 4, 4}));
}

TEST_P(Whiles, TheEnvironmentSetsTheLimit) {
    setenv("FIRN_MAX_STEPS", "20", 1);
    Tensor x = 0;
    while_([&] { return x < 30; }, [&] { x += 1; });
    unsetenv("FIRN_MAX_STEPS");
    expect_parts(user_error([&] { x.item<int>(); }), kNeverEnds);
    EXPECT_NE(user_error([&] { session_.limit_while(0); }), "");
}

TEST_P(Whiles, ANumberAndAVectorThatOneLoopCarriesMeetInASum) {
    Tensor x = tensor({5, 7})(0), v = arange(100), w = v;
    while_([&] { return x > 0; }, [&] { x = x - 1, v = w + x; }, {.max_steps = 3});
    EXPECT_EQ((sum(v) + x).item<int>(), 4950 + 200 + 2);
}

TEST_P(Whiles, ANumberAndAVectorThatALoopInsideCarriesKeepTheirShapes) {
    Tensor vector = arange(3), number = 1, on = 0;
    while_([&] { return on < 1; },
           [&] {
               for (Tensor t : loop(1)) vector = full({3}, 5), number = 2;
               on = 1;
           });
    EXPECT_EQ((vector + number).to_vector<int>(), (Ints{7, 7, 7}));
    EXPECT_EQ(on.item<int>(), 1);
}

TEST(WhilesOnGpu, ANumberAndAVectorThatOneLoopCarriesMeetInASum) {
    SessionScope scope(Session::interpreter(gpu_profile()));
    auto f = compile(
        [](Tensor x, Tensor v) {
            Tensor w = v;
            while_([&] { return x > 0; }, [&] { x = x - 1, v = w + x; }, {.max_steps = 3});
            return std::tuple{sum(v) + x, Tensor(v(x))};
        },
        {i32(), i32("n")});
    auto [total, one] = f(5, arange(100));
    EXPECT_EQ(total.item<int>(), 4950 + 200 + 2);
    EXPECT_EQ(one.item<int>(), 4);
}

TEST(WhilesOnGpu, ALoopInAKernelStopsAtItsLimit) {
    Session session = Session::interpreter(gpu_profile());
    SessionScope scope(session);
    session.limit_while(1000);
    Tensor x = arange(5), y = arange(5);
    while_([&] { return y != 990; }, [&] { y += 1; });
    EXPECT_EQ(y.to_vector<int>(), (Ints{990, 990, 990, 990, 990}));
    while_([&] { return x != 3; }, [&] { x += 1; });
    expect_parts(user_error([&] { x.to_vector<int>(); }), kNeverEnds);
}

TEST_P(Whiles, AnInnerLoopIsAsLongAsTheIterationOfALoopThatTheDataEnds) {
    Tensor x = zeros({8}), n = tensor({20});
    for (Tensor k : loop(n(0)))
        for (Tensor j : loop(k + 1)) x = max(x, wrap(x)(arange(8) + 1)) + 1.0f;
    EXPECT_EQ(x.to_vector<float>(), std::vector<float>(8, 20 * 21 / 2));
}

TEST_P(Whiles, AnInnerLoopIsNotRunOnWhatTheOuterOneLeaves) {
    // With the x of the last iteration it would never end.
    Tensor x = tensor({3, 3, 3, 3}), n = tensor({3}), total = zeros({4}, i32);
    for (Tensor k : loop(n(0))) {
        Tensor y = zeros({4}, i32);
        while_([&] { return sum(y) < 40; }, [&] { y = roll(y, 1) + x; });
        total += y;
        x = roll(x, 1) - 1;
    }
    EXPECT_EQ(total.to_vector<int>(), (Ints{32, 32, 32, 32}));
}

TEST_P(Whiles, CountsUpAndDown) {
    Tensor i = 0, down = 5, before = 0;
    while_([&] { return i < 3; },
           [&] {
               before += i++;
               --down;
           });
    EXPECT_EQ(i.item<int>(), 3);
    EXPECT_EQ(before.item<int>(), 0 + 1 + 2);
    EXPECT_EQ(down.item<int>(), 2);
    Tensor x = tensor({0.5f, 1.5f}), old = x--;
    EXPECT_EQ((++x).to_vector<float>(), old.to_vector<float>());
    Tensor none;
    expect_parts(user_error([&] { none++; }), {"no value yet", "while_test.cpp"});
}

}  // namespace
}  // namespace firn
