// Kernels by hand in what surrounds them: tensor code, loops, branches.
#include "tests/frontend/kernels.h"

namespace firn {
namespace {

class SurroundedKernels : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Executors, SurroundedKernels, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

TEST_P(SurroundedKernels, TensorCodeBeforeAndAfter) {
    Tensor x = arange(6) * 2;
    Tensor mean_of_x = mean(x.as(f32));
    Tensor c = zeros({6});
    kernel({6}, [&](Tensor i) { c(i) = x(5 - i).as(f32) - mean_of_x; });
    EXPECT_EQ((c * 2.0f).to_vector<float>(), (Floats{10, 6, 2, -2, -6, -10}));
}

TEST_P(SurroundedKernels, StepsOfARecordedLoop) {
    auto run = compile(
        [](Tensor u) {
            for (Tensor t : loop(3)) {
                Tensor next = zeros(u.shape(), i32);
                kernel({u.size(0)}, [&](Tensor i) { next(i) = u(i - 1) + u(i) + t; });
                u = next;
            }
            return u;
        },
        {i32("n")});
    std::vector<int> u{1, 2, 3, 4, 5};
    Tensor given = tensor(u);
    for (int t = 0; t < 3; ++t) {
        std::vector<int> next;
        for (size_t k = 0; k < u.size(); ++k) next.push_back(u[k ? k - 1 : 0] + u[k] + t);
        u = next;
    }
    EXPECT_EQ(Tensor(run(given)).to_vector<int>(), u);
}

TEST_P(SurroundedKernels, UnderABranch) {
    auto run = compile(
        [](Tensor x, Tensor go) {
            if_(go > 0, [&] { kernel({x.size(0)}, [&](Tensor i) { x(i) = i * go; }); });
            return x;
        },
        {i32("n"), i32()});
    Tensor x = full({3}, 7);
    EXPECT_EQ(Tensor(run(x, 2)).to_vector<int>(), (Ints{0, 2, 4}));
    EXPECT_EQ(Tensor(run(x, 0)).to_vector<int>(), (Ints{7, 7, 7}));
}

TEST_P(SurroundedKernels, OverASizeThatOnlyTheDeviceKnows) {
    auto run = compile(
        [](Tensor x) {
            Tensor y = compact(x, x > 2), c = zeros(y.shape(), i32);
            kernel({y.size(0)}, {.group = {4}}, [&](Tensor i) { c(i) = y(i) * 10 + i; });
            return c;
        },
        {i32("n")});
    EXPECT_EQ(Tensor(run(arange(9))).to_vector<int>(), (Ints{30, 41, 52, 63, 74, 85}));
    EXPECT_EQ(Tensor(run(arange(2))).to_vector<int>(), Ints{});
}

// --- one dispatch --------------------------------------------------------------------------------

TEST(KernelProgram, IsOneDispatch) {
    Session session = Session::interpreter();
    SessionScope scope(session);
    auto run = compile([](Tensor a, Tensor b) { return tiled_matmul(a, b, 8); },
                       {f32("n", "k"), f32("k", "m")});
    (void)Tensor(run(ones({20, 30}), ones({30, 10})));
    EXPECT_EQ(run.stats().dispatches, 1);
}

// --- refusals ------------------------------------------------------------------------------------

TEST_P(SurroundedKernels, ArraysOfAGroupOverASizeThatOnlyTheDeviceKnows) {
    auto run = compile(
        [](Tensor x) {
            Tensor y = compact(x, x > 2), c = zeros(y.shape(), i32);
            kernel({y.size(0)}, {.group = {4}}, [&](Tensor i) {
                Shared s = shared(i32, 4);
                Local own = local(i32, 2);
                own(1) = y(i) * 10;
                s(local_index(0)) = own(1);
                barrier();
                c(i) = s(3 - local_index(0)) + Tensor(y.size(0));
            });
            return c;
        },
        {i32("n")});
    EXPECT_EQ(Tensor(run(arange(11))).to_vector<int>(), (Ints{68, 58, 48, 38, 108, 98, 88, 78}));
    EXPECT_EQ(Tensor(run(arange(7))).to_vector<int>(), (Ints{64, 54, 44, 34}));
    EXPECT_EQ(Tensor(run(arange(2))).to_vector<int>(), Ints{});
}

TEST_P(SurroundedKernels, InALoopThatGivesThemWhatItDoesNotChange) {
    Tensor x = arange(4) + 1, c = zeros({4}, i32);
    for (Tensor step : loop(3))
        kernel({4}, {.group = {4}}, [&](Tensor i) { c(i) = c(i) * 10 + x(i) + step; });
    EXPECT_EQ(c.to_vector<int>(), (Ints{123, 234, 345, 456}));
}

TEST_P(SurroundedKernels, WhatOnlyALaterLoopReadsIsStoredOnce) {
    Tensor c = zeros({32}, i32), count = zeros({1}, i32);
    kernel({32}, {.group = {16}}, [&](Tensor i) {
        Shared s = shared(i32, 16);
        Local own = local(i32, 4);
        Tensor k = local_index(0), sum = 0;
        s(k) = i;
        barrier();
        for (Tensor t : loop(4)) own(t) = s((k + t) % 16);
        Tensor first = own(0), ticket = atomic_add(count(0), 1);
        for (Tensor t : loop(4)) {
            own(0) = own(0) + first;
            sum += own(3 - t) * (t + 1) + min(ticket, 0);
        }
        c(i) = sum;
    });
    Ints expected;
    for (int i = 0; i < 32; ++i) {
        const auto at = [&](int t) { return i / 16 * 16 + (i % 16 + t) % 16; };
        expected.push_back(at(3) + 2 * at(2) + 3 * at(1) + 4 * 5 * at(0));
    }
    EXPECT_EQ(c.to_vector<int>(), expected);
    EXPECT_EQ(count.item<int>(), 32);
}

TEST_P(SurroundedKernels, AnElementThatALoopFollowsIsEachInvocationsOwn) {
    const Ints next{2, 0, 3, 1};
    Ints expected;
    for (int i = 0; i < 4; ++i) {
        int at = 0;
        for (int t = 0; t < 3; ++t) at = (next[static_cast<size_t>(at)] + i) % 4;
        expected.push_back(at);
    }
    Tensor to = tensor(next), c = zeros({4}, i32);
    kernel({4}, [&](Tensor i) {
        Tensor at = 0;
        for (Tensor t : loop(3)) at = (to(at) + i) % 4;
        c(i) = at;
    });
    EXPECT_EQ(c.to_vector<int>(), expected);
    Tensor all = 0;
    for (Tensor t : loop(3)) all = (to(all) + arange(4)) % 4;
    EXPECT_EQ(all.to_vector<int>(), expected);
}

TEST_P(SurroundedKernels, AStoreToATensorThatIsMadeInsideIsAnError) {
    Tensor c = zeros({4}, i32), x = arange(4);
    expect_parts(user_error([&] {
                     kernel({4}, [&](Tensor i) {
                         Tensor own = x;
                         own(i) = 1;
                         c(i) = own(i);
                     });
                 }),
                 {"made there", "local(", "kernel_surroundings_test.cpp"});
}

TEST_P(SurroundedKernels, ALocalArrayOfATurnBeginsAnewInEach) {
    Tensor c = zeros({4}, i32);
    kernel({4}, {.group = {4}}, [&](Tensor i) {
        Tensor sum = 0;
        for (Tensor t : loop(3)) {
            Local own = local(i32, 4);
            own(3) = i;            // the same in every iteration
            own(t) = own(t) + 10;  // another place in each
            for (Tensor q : loop(4)) sum += own(q);
        }
        c(i) = sum;
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{30, 33, 36, 39}));
}

}  // namespace
}  // namespace firn
