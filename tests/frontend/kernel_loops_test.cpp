// Kernels by hand: loops that the data ends, and what drivers allow.
#include "tests/frontend/kernels.h"

namespace firn {
namespace {

class LoopingKernels : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Executors, LoopingKernels, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

TEST_P(LoopingKernels, AWhileEndsWhereItsConditionSays) {
    Tensor c = zeros({6}, i32);
    kernel({6}, [&](Tensor i) {
        Tensor x = i + 1, steps = 0;
        for (Tensor t : loop(3)) {
            x = i + t + 1;
            while_([&] { return x != 1; },
                   [&] {
                       x = select(x % 2 == 0, x / 2, 3 * x + 1);
                       steps += 1;
                   });
        }
        c(i) = steps;
    });
    auto collatz = [](int x) {
        int steps = 0;
        for (; x != 1; ++steps) x = x % 2 ? 3 * x + 1 : x / 2;
        return steps;
    };
    Ints expected;
    for (int i = 0; i < 6; ++i)
        expected.push_back(collatz(i + 1) + collatz(i + 2) + collatz(i + 3));
    EXPECT_EQ(c.to_vector<int>(), expected);
}

TEST_P(LoopingKernels, AWhileThatGoesOnIsAnErrorWithItsLine) {
    session_.limit_while(50);
    Tensor c = zeros({6}, i32);
    int line = 0;
    const std::string message = user_error([&] {
        kernel({6}, [&](Tensor i) {
            Tensor x = i, y = i;
            while_([&] { return y > 0; }, [&] { y -= 1; });
            line = __LINE__ + 1;
            while_([&] { return x != 7; }, [&] { x += 2; });  // the odd ones never get there
            c(i) = x;
        });
        c.to_vector<int>();
    });
    expect_parts(message, {"while_", "its condition still held",
                           "kernel_loops_test.cpp:" + std::to_string(line)});
}

TEST_P(LoopingKernels, AWhileInACompiledKernelIsAnErrorOfTheCallsThatDoNotEnd) {
    session_.limit_while(50);
    auto f = compile(
        [](Tensor n) {
            Tensor c = zeros({4}, i32);
            kernel({4}, [&](Tensor i) {
                Tensor x = i;
                while_([&] { return x < n; }, [&] { x += 1; });
                c(i) = x;
            });
            return c;
        },
        {i32()});
    EXPECT_EQ(f(9).to_vector<int>(), Ints(4, 9));
    expect_parts(user_error([&] { f(100); }),
                 {"while_", "its condition still held", "kernel_loops_test.cpp"});
    EXPECT_EQ(f(8).to_vector<int>(), Ints(4, 8));
}

/// Iterations of a loop in one invocation of a kernel by hand.
Tensor counted(int n) {
    Tensor c = zeros({2}, i32);
    kernel({2}, [&](Tensor i) {
        Tensor x = i;
        for (Tensor t : loop(n)) x = (x * 5 + t) % 1000003;
        c(i) = x;
    });
    return c;
}

TEST(KernelLoops, BoundsThatSayHowFarTheyGoNeedNoCheck) {
    SessionScope scope(Session::interpreter());
    const Tensor start = tensor({0, 2, 2, 5});
    const auto rows = [&](bool bounded) {
        Tensor c = zeros({3}, i32);
        kernel({3}, [&](Tensor k) {
            Tensor sum = 0;
            const Tensor end = start(k + 1);
            for (Tensor e : loop(start(k), bounded ? min(end, start(k) + 100) : end)) sum += e;
            c(k) = sum;
        });
        return c;
    };
    for (bool bounded : {false, true}) {
        const Tensor made = rows(bounded);
        // A checked value is computed at once.
        EXPECT_EQ(made.node()->op == Op::Buffer, !bounded);
        EXPECT_EQ(made.to_vector<int>(), (Ints{1, 0, 9}));
    }
}

TEST(KernelLoops, MoreIterationsThanTheDriverTakesAreRefusedWithTheirLine) {
    SessionScope scope(Session::interpreter());
    EXPECT_EQ(counted(60000).to_vector<int>().size(), 2u);
    expect_parts(user_error([] { counted(2000000).to_vector<int>(); }),
                 {"125000 iterations", "65535", "kernel_loops_test.cpp"});
}

TEST(KernelLoops, ADriverWithoutALimitTakesThemAll) {
    Ints expected;
    {
        SessionScope scope(Session::oracle());
        expected = counted(70000).to_vector<int>();
    }
    SessionScope scope(Session::interpreter(gpu_profile()));
    EXPECT_EQ(counted(70000).to_vector<int>(), expected);
}

TEST(KernelLoops, AWhileTakesWhatTheDriverAllows) {
    SessionScope scope(Session::interpreter());
    auto run = [](int end) {
        Tensor c = zeros({2}, i32);
        kernel({2}, [&](Tensor i) {
            Tensor x = i;
            while_([&] { return x < end; }, [&] { x += 1; });
            c(i) = x;
        });
        return c.to_vector<int>();
    };
    EXPECT_EQ(run(60000), Ints(2, 60000));
    expect_parts(user_error([&] { run(80000); }), {"while_", "kernel_loops_test.cpp"});
}

// --- bounds of each invocation -------------------------------------------------------------------

/// Rows of a sparse matrix times a vector.
Tensor sparse_product(const Tensor& start, const Tensor& column, const Tensor& value,
                      const Tensor& x) {
    Tensor y = zeros({start.size(0) - 1});
    kernel({start.size(0) - 1}, [&](Tensor k) {
        Tensor sum = 0.0f;
        for (Tensor e : loop(start(k), start(k + 1))) sum += value(e) * x(column(e));
        y(k) = sum;
    });
    return y;
}

TEST_P(LoopingKernels, GoAsFarAsTheBoundsOfEachInvocationSay) {
    const Tensor start = tensor({0, 2, 2, 3, 7}), column = tensor({0, 2, 1, 0, 1, 2, 3}),
                 value = tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f}),
                 x = tensor({1.0f, 10.0f, 100.0f, 1000.0f});
    const Floats expected{201, 0, 30, 7654};
    EXPECT_EQ(sparse_product(start, column, value, x).to_vector<float>(), expected);
    for (DType type : {u32, i64, u8}) {
        SCOPED_TRACE(type.name());
        EXPECT_EQ(sparse_product(start.as(type), column, value, x).to_vector<float>(), expected);
    }
    auto compiled = compile(sparse_product, {i32("n"), i32("m"), f32("m"), f32("k")});
    EXPECT_EQ(compiled(start, column, value, x).to_vector<float>(), expected);
}

TEST_P(LoopingKernels, CountDownAndByStepsOfTheirOwn) {
    Tensor c = zeros({4}, i32), d = zeros({4}, i32), e = zeros({4}, i32);
    const Tensor low = tensor({0, 3, 5, 2}), high = tensor({4, 3, 1, 9}),
                 step = tensor({1, 1, -2, 3});
    kernel({4}, [&](Tensor k) {
        Tensor digits = 0, back = 0, own = 0;
        for (Tensor i : loop(low(k), high(k), 2)) digits = 10 * digits + i + 1;
        for (Tensor i : loop(high(k), low(k), -1)) back = 10 * back + i;
        for (Tensor i : loop(low(k), high(k), step(k))) own = 10 * own + i;
        c(k) = digits, d(k) = back, e(k) = own;
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{13, 0, 0, 3579}));
    EXPECT_EQ(d.to_vector<int>(), (Ints{4321, 0, 0, 9876543}));
    EXPECT_EQ(e.to_vector<int>(), (Ints{123, 0, 53, 258}));
}

TEST_P(LoopingKernels, BoundsOfEachInvocationMixWithBreaksBranchesAndOtherLoops) {
    Tensor c = zeros({3, 2}, i32);
    const Tensor count = tensor({0, 3, 5});
    kernel({3, 2}, [&](Tensor i, Tensor j) {
        Tensor sum = 0;
        for (Tensor outer : loop(2))
            for (Tensor k : loop(count(i))) {
                if_(k == 3, [&] { break_(); });
                if_(k == 1, [&] { continue_(); });
                for (Tensor inner : loop(k, k + j + 1)) sum += inner + outer;
            }
        c(i, j) = sum;
    });
    Ints expected;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 2; ++j) {
            int sum = 0;
            const int counts[] = {0, 3, 5};
            for (int outer = 0; outer < 2; ++outer)
                for (int k = 0; k < counts[i] && k != 3; ++k)
                    if (k != 1)
                        for (int inner = k; inner < k + j + 1; ++inner) sum += inner + outer;
            expected.push_back(sum);
        }
    EXPECT_EQ(c.to_vector<int>(), expected);
}

TEST_P(LoopingKernels, StoresInsideALoopOfTheirOwnBoundsReachTheirPlaces) {
    const Tensor start = tensor({0, 2, 2, 5});
    Tensor owner = full({5}, -1);
    kernel({3}, [&](Tensor k) {
        for (Tensor e : loop(start(k), start(k + 1))) store(owner(e), k, {.unique = true});
    });
    EXPECT_EQ(owner.to_vector<int>(), (Ints{0, 0, 2, 2, 2}));
}

TEST_P(LoopingKernels, ABoundThatIsNoIntegerOrNotTheInvocationsIsRefused) {
    Tensor c = zeros({3});
    const Tensor bounds = tensor({1.0f, 2.0f, 3.0f}), other = tensor({1, 2});
    expect_parts(user_error([&] {
                     kernel({3}, [&](Tensor k) {
                         for (Tensor i : loop(bounds(k))) c(k) = 1.0f;
                     });
                 }),
                 {"a bound is f32", "convert it by .as(i32)", "kernel_loops_test.cpp"});
    expect_parts(user_error([&] {
                     kernel({3}, [&](Tensor k) {
                         for (Tensor i : loop(other)) c(k) = 1.0f;
                     });
                 }),
                 {"kernel_loops_test.cpp"});
    const std::string outside = user_error([&] {
        for (Tensor i : loop(other)) c = c + 1.0f;
    });
    expect_parts(outside, {"a bound is i32[2]", "max(bound)", "kernel_loops_test.cpp"});
    EXPECT_EQ(outside.find("as(i32)"), std::string::npos);
}

TEST(KernelLoops, MoreIterationsThanADriverAllowsAreAnError) {
    SessionScope scope(Session::interpreter());
    const Tensor count = tensor({3, 100000});
    expect_parts(user_error([&] {
                     Tensor c = zeros({2}, i32);
                     kernel({2}, [&](Tensor k) {
                         Tensor sum = 0;
                         for (Tensor i : loop(count(k))) sum += i % 2;
                         c(k) = sum;
                     });
                     c.to_vector<int>();
                 }),
                 {"loop: the bounds of an invocation", "kernel_loops_test.cpp"});
}

}  // namespace
}  // namespace firn
