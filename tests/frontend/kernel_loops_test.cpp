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

}  // namespace
}  // namespace firn
