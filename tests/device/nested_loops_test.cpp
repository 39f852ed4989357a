// Nested loops of kernels on the device: their buffers, and their iteration numbers.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/device/on_device.h"

namespace firn {
namespace {

Tensor k4() { return arange(4) + 9; }
Tensor start4() { return arange(4) * 0; }

/// Adds 1 to the larger of every element and its neighbour.
Tensor climbed(const Tensor& x) { return max(x, wrap(x)(arange(8) + 1)) + 1.0f; }

const DeviceCase kNestedLoops[] = {
    {"a_long_loop_takes_all_its_iterations",  // the driver cuts off what takes too many
     [] {
         Tensor x = reshape(arange(20 * 40), {20, 40});
         for (Tensor t : loop(5000)) {
             auto [i, j] = indices<2>(x.shape());
             x = (x(i, j - 1) + 3 * x + t) % 1009;
         }
         return x;
     }},
    {"an_inner_loop_starts_from_what_the_outer_one_assigns_later",
     [] {
         Tensor x = start4() + 7, out = k4();
         for (Tensor t : loop(2)) {
             Tensor w = x;
             for (Tensor s : loop(2)) w = roll(w, 1) + 1;
             out = w;
             x = start4() + 5;
         }
         return out;
     }},
    {"so_in_one_turn",
     [] {
         Tensor x = start4() + 7, out = k4();
         for (Tensor t : loop(1)) {
             Tensor w = x;
             for (Tensor s : loop(3)) w = roll(w, 1) + 1;
             out = w;
             x = start4() + 5;
         }
         return out * 100 + x;
     }},
    {"so_with_stores",
     [] {
         Tensor x = start4() + 7, out = k4();
         for (Tensor t : loop(3)) {
             Tensor w = x;
             for (Tensor s : loop(3)) w(s) = w(3) + t, w = roll(w, 1);
             out = w + out;
             x = start4() + t;
         }
         return out * 100 + x;
     }},
    {"so_with_a_break",
     [] {
         Tensor x = start4() + 7, out = k4();
         for (Tensor t : loop(40)) {
             Tensor w = x;
             for (Tensor s : loop(3)) w = roll(w, 1) + 1;
             out = w + out % 100;
             if_(sum(out) > 190, [&] { break_(); });
             x = out % 7 + t;
         }
         return out * 100 + x;
     }},
    {"so_with_max_steps",
     [] {
         Tensor x = start4() + 7, out = k4();
         while_([&] { return sum(out) < 190; },
                [&] {
                    Tensor w = x;
                    while_([&] { return sum(w) < 50; }, [&] { w = roll(w, 1) + 1; },
                           {.max_steps = 3});
                    out = w + out;
                    x = start4() + 5;
                },
                {.max_steps = 5});
         return out * 100 + x;
     }},
    {"an_inner_loop_as_long_as_the_turn_of_a_loop_that_the_data_ends",
     [] {
         Tensor x = zeros({8}), n = tensor({20});
         for (Tensor k : loop(n(0)))
             for (Tensor j : loop(k + 1)) x = climbed(x);
         return x;
     }},
    {"so_with_break",
     [] {
         Tensor x = zeros({8});
         for (Tensor k : loop(200)) {
             if_(sum(x) > 1500.0f, [&] { break_(); });
             for (Tensor j : loop(k + 1)) x = climbed(x);
         }
         return x;
     }},
    {"an_inner_loop_that_swaps_once_per_turn",
     [] {
         Tensor x = arange(8).as(f32), y = x * 2.0f, n = tensor({19});
         for (Tensor k : loop(n(0))) {
             Tensor z = x;
             for (Tensor j : loop(k % 3 + 1)) z = climbed(z);
             x = y;
             y = z;
         }
         return x * 1000.0f + y;
     }},
    {"an_inner_loop_that_would_not_end_after_the_outer_one",
     [] {
         Tensor n = tensor({3, 3, 3, 3}), sum_of = zeros({4}, i32);
         while_([&] { return sum(n) > 0; },
                [&] {
                    Tensor y = zeros({4}, i32);
                    while_([&] { return sum(y) < 40; }, [&] { y = roll(y, 1) + n; });
                    sum_of += y;
                    n = roll(n, 1) - 1;
                });
         return sum_of;
     }},
    {"so_where_the_data_holds_its_length",
     [] {
         Tensor x = tensor({3, 3, 3, 3}), n = tensor({3}), sum_of = zeros({4}, i32);
         for (Tensor k : loop(n(0))) {
             Tensor y = zeros({4}, i32);
             while_([&] { return sum(y) < 40; }, [&] { y = roll(y, 1) + x; });
             sum_of += y;
             x = roll(x, 1) - 1;
         }
         return sum_of;
     }},
    {"so_where_the_outer_one_takes_no_turn",
     [] {
         Tensor n = tensor({0, 0, 0, 0}), sum_of = zeros({4}, i32);
         while_([&] { return sum(n) > 0; },
                [&] {
                    Tensor y = zeros({4}, i32);
                    while_([&] { return sum(y) < 40; }, [&] { y = roll(y, 1) + n; });
                    sum_of += y;
                    n = roll(n, 1) - 1;
                });
         return sum_of;
     }},
};

// Iterations tried beyond the end of a loop whose end depends on data have no products that
// overflow.
TEST(DataLoops, HaveIndicesWhoseProductsWrapAround) {
    for (Session session :
         {Session::interpreter(), Session::interpreter(gpu_profile()), device_session()}) {
        SessionScope scope(session);
        for (const int n : {0, 1, 17}) {
            Tensor iterations = tensor({n}), x = zeros({4}, i32);
            for (Tensor t : loop(iterations(0))) {
                const Tensor square = t * t, fourth = square * square;
                x = roll(x, 1) + fourth * fourth;
            }
            uint32_t sum = 0;
            for (uint32_t t = 0; t < static_cast<uint32_t>(n); ++t)
                sum += t * t * t * t * t * t * t * t;
            EXPECT_EQ(x.to_vector<int>(), std::vector<int>(4, static_cast<int>(sum))) << n;
        }
    }
}

// A loop's rest that has no iteration begins behind the end: nothing is loaded there.
TEST(Rests, LoadNothingWhereTheyHaveNoIteration) {
    for (Session session :
         {Session::interpreter(), Session::interpreter(gpu_profile()), device_session()}) {
        SessionScope scope(session);
        Tensor x0 = tensor(std::vector<int>(10), {5, 2}),
               x1 = tensor(std::vector<float>(10), {5, 2}), x2 = tensor({0, 0});
        if_(floor(index({1, 2}, 1) * x1) <= 1, [&] {
            if_(
                wrap(x1)(index({5, 2}, 0) - 1, index({5, 2}, 1) - 1) <= 1,
                [&] {
                    x1 = all(x0(index({2, 5, 2}, 1), index({2, 5, 2}, 0)), {.axis = Axes{0}})
                             .as(f32);
                    if_(
                        1 < x1,
                        [&] {
                            x1(index({5, 2}, 0)) += 1;
                        },
                        [&] {
                            x1 = slice(mirror(x2)(x1.as(i32)),
                                       {.axis = 0, .begin = 0, .end = 5, .step = -1})
                                     .as(f32);
                        });
                },
                [&] {
                    for (Tensor t : loop(fill(x0, 1.0f)(1, 1)))
                        x1 = fill(x1, 1.0f)(index({5, 2}, 0), -2);
                    for (Tensor t : loop(1)) {
                        x0(x1.as(i32)) = 1;
                        x1 = index({5, 2}, 0).as(f32);
                    }
                });
        });
        EXPECT_EQ(x0.to_vector<int>(), std::vector<int>(10));
    }
}

TEST(Rows, OfNoElementsMayHaveAxesOfSymbols) {
    for (Session session : {Session::interpreter(), device_session()}) {
        SessionScope scope(session);
        const Size n = Size::symbol("n");
        auto f = compile(
            [&](Tensor x, Tensor y) {
                for (Tensor t : loop(3)) {
                    y = max(wrap(x)(1, 1, t), y).as(u32);
                    if_(any(rand({8}) != rand({8})), [&] { continue_(); });
                    x = index({n, n, 0}, 2).as(f32);
                    for (Tensor s : loop(1))
                        y = min(index({6, 5, n}, 2), {.axis = Axes{1}}).as(u32);
                }
                return y;
            },
            {f32("n", "n", 0), u32(6, "n")});
        for (const int size : {0, 2})
            EXPECT_EQ(f(zeros({size, size, 0}), zeros({6, size}, u32)).to_vector<uint32_t>(),
                      std::vector<uint32_t>(static_cast<size_t>(6 * size)));
    }
}

TEST(KernelsByHand, MayHoldAnEndlessLoopThatNoInvocationRuns) {
    for (Session session : {Session::oracle(), Session::interpreter(),
                            Session::interpreter(gpu_profile()), device_session()}) {
        SessionScope scope(session);
        session.limit_while(100);
        const auto run = [](int from) {
            Tensor x = zeros({4}, i32);
            kernel(x.shape(), [&](Tensor i) {
                Tensor y = i - 1;
                if_(i >= from, [&] { while_([&] { return y < 10; }, [&] {}); });
                x(i) = 1;
            });
            return x.to_vector<int>();
        };
        EXPECT_EQ(run(4), (std::vector<int>{1, 1, 1, 1}));
        EXPECT_THROW(run(3), UserError);
        // Neither do values that do not depend on the invocation.
        const auto run_alike = [](int from, const Tensor& start) {
            Tensor x = zeros({4}, i32);
            kernel(x.shape(), [&](Tensor i) {
                Tensor y = start(0);
                if_(i >= from, [&] { while_([&] { return y < 10; }, [&] { y = y * 1; }); });
                x(i) = 1;
            });
            return x.to_vector<int>();
        };
        EXPECT_EQ(run_alike(4, tensor({0})), (std::vector<int>{1, 1, 1, 1}));
        EXPECT_THROW(run_alike(3, tensor({0})), UserError);
        EXPECT_EQ(run_alike(3, tensor({10})), (std::vector<int>{1, 1, 1, 1}));
        const auto run_around = [](const Tensor& start, const Tensor& runs) {
            Tensor x = zeros({4}, i32);
            if_(runs(0) == 1, [&] {
                kernel(x.shape(), [&](Tensor i) {
                    Tensor y = start(0);
                    while_([&] { return y < 10; }, [&] { y = y * 1; });
                    x(i) = 1;
                });
            });
            return x.to_vector<int>();
        };
        EXPECT_EQ(run_around(tensor({0}), tensor({0})), (std::vector<int>{0, 0, 0, 0}));
        EXPECT_THROW(run_around(tensor({0}), tensor({1})), UserError);
    }
}

TEST(KernelsByHand, MayHoldAnEndlessLoopWhereNobodyRunsThem) {
    for (Session session : {Session::oracle(), Session::interpreter(),
                            Session::interpreter(gpu_profile()), device_session()}) {
        SessionScope scope(session);
        session.limit_while(100);
        const auto run = [](Tensor runs) {
            Tensor x = zeros({1}, i32);
            if_(runs, [&] {
                kernel(x.shape(), [&](Tensor i) {
                    Tensor y = i - 1;
                    while_([&] { return y < 1; }, [&] {});
                    x(i) = 1;
                });
            });
            return x.to_vector<int>();
        };
        EXPECT_EQ(run(tensor({0})(0) == 1), std::vector<int>{0});
        EXPECT_THROW(run(tensor({1})(0) == 1), UserError);
        // In a loop whose end depends on data the condition is a mask: the oracle runs the
        // statements behind it.
        Tensor x = tensor({0}), iterations = 0;
        while_([&] { return iterations < 1; },
               [&] {
                   if_(
                       1 != iterations, [&] {},
                       [&] {
                           kernel(x.shape(), [&](Tensor i) {
                               Tensor y = i - 1;
                               while_([&] { return y < 1; }, [&] {});
                               x(i) = 1;
                           });
                       });
                   iterations = 1;
               });
        EXPECT_EQ(iterations.to_vector<int>(), std::vector<int>{1});
    }
}

TEST(KernelsByHand, MayHoldALoopThatDoesNothing) {
    for (Session session : {Session::oracle(), Session::interpreter(),
                            Session::interpreter(gpu_profile()), device_session()}) {
        SessionScope scope(session);
        Tensor x = index({2, 1, 1}, 2);
        kernel(x.shape(), [&](Tensor i, Tensor j, Tensor k) {
            Tensor y = 1;
            while_([&] { return y < 1; }, [&] {});
            x(i, j, k) = 1;
        });
        EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{1, 1}));
    }
}

TEST(BitonicSort, OfMoreKeysThanSixteenStagesReach) {
    const SessionScope scope(device_session());
    const int stages = 17, n = 1 << stages;
    Tensor i = arange(n), x = (i * 7919 + 13) % 100003, count = tensor({stages});
    std::vector<int> expected = x.to_vector<int>();
    for (Tensor k : loop(count(0)))
        for (Tensor j : loop(k + 1)) {
            Tensor other = i ^ (1 << (k - j)), rises = (i & (2 << k)) == 0, there = x(other);
            x = select((i < other) == rises, min(x, there), max(x, there));
        }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(x.to_vector<int>(), expected);
}

/// A driver that lets an invocation take 65,535 back edges counts the ends of inner loops too.
TEST(LongLoop, EndsOfInnerLoopsAreBackEdges) {
    const SessionScope scope(device_session());
    const auto f = compile(
        [](Tensor x, Tensor most) {
            for (Tensor k : loop(21'000)) {
                Tensor step = 0.0f * x;
                while_([&] { return step < most; }, [&] { step += 1.0f, x += 1.0f; },
                       {.max_steps = 2});
            }
            return x;
        },
        {f32(8), f32(8)});
    EXPECT_EQ(Tensor(f(zeros({8}), full({8}, 2.0f))).to_vector<float>(),
              std::vector<float>(8, 42'000));
}

TEST(LongLoop, OfSmallKernelsRunsInChunksOfIterations) {
    const SessionScope scope(device_session());
    const int n = 256;  // few enough for one group on every device
    const auto f = compile(
        [](Tensor x, Tensor times) {
            for (Tensor k : loop(times)) x = roll(x, 1) + cast<float>(k % 2);
            return x;
        },
        {f32(n), i32()});
    const int times = 20'000;
    const std::vector<float> got = Tensor(f(arange(n).as(f32), times)).to_vector<float>();
    EXPECT_LE(f.stats().dispatches, 30);
    for (int i = 0; i < n; ++i)
        ASSERT_EQ(got[size_t(i)], float((i + n * times - times) % n + times / 2)) << i;
}

TEST(DataLoops, MayEndWithBuffersInEachOthersMemory) {
    const SessionScope scope(device_session());
    // Iterations of this size are expensive: the loop's end is read after each, and three buffers
    // have rotated.
    const int n = 1 << 20;
    auto f = compile(
        [](Tensor x, Tensor y, Tensor z, Tensor count) {
            for (Tensor iteration : loop(count(0))) {
                Tensor first = x;
                x = y, y = z, z = roll(first, 1) + 1;
            }
            return std::tuple(x, y, z);
        },
        {f32("n"), f32("n"), f32("n"), i32(1)});
    const Tensor a = zeros({n}), b = a + 100, c = a + 200;
    for (int count = 0; count < 8; ++count) {
        auto [x, y, z] = f(a, b, c, tensor({count}));
        std::vector<int> expected{0, 100, 200}, got;
        for (int iteration = 0; iteration < count; ++iteration) {
            std::rotate(expected.begin(), expected.begin() + 1, expected.end());
            ++expected[2];
        }
        for (const Tensor& one : {x, y, z}) {
            got.push_back(cast<int>(max(one)).item<int>());
            EXPECT_EQ(min(one).item<float>(), max(one).item<float>());
        }
        EXPECT_EQ(got, expected) << count;
    }
}

void run_for_ever() {
    const SessionScope scope(device_session());
    signal(SIGINT, SIG_DFL);  // tests started in the background may have it ignored
    std::thread([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        kill(getpid(), SIGINT);
    }).detach();
    Tensor x = zeros({8});
    for (Tensor k : loop(2'000'000'000)) x = climbed(x);
    x.to_vector<float>();
}

TEST(LongLoop, IsEndedByAnInterrupt) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(run_for_ever(), ::testing::KilledBySignal(SIGINT), "");
}

INSTANTIATE_TEST_SUITE_P(NestedLoops, OnDevice, ::testing::ValuesIn(kNestedLoops), name_of);

}  // namespace
}  // namespace firn
