// Kernels by hand: what they store, share and exchange, and what they refuse. On the oracle and
// compiled.
#include "compiler/frontend/kernel.h"

#include <numeric>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

/// Everything here holds for the oracle and for compiled kernels on the host.
class Kernels : public ::testing::TestWithParam<bool> {
  protected:
    Session session_ = GetParam() ? Session::interpreter() : Session::oracle();
    SessionScope scope_{session_};
};
INSTANTIATE_TEST_SUITE_P(Executors, Kernels, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

Floats floats(int count, float step) {
    Floats out(static_cast<size_t>(count));
    for (int k = 0; k < count; ++k)
        out[static_cast<size_t>(k)] = static_cast<float>((k * 7) % 23) * step - 1.0f;
    return out;
}

TEST_P(Kernels, EachInvocationStoresAtItsIndex) {
    Tensor c = full({3, 5}, -1);
    kernel({3, 5}, [&](Tensor i, Tensor j) { c(i, j) = i * 10 + j; });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24}));
}

TEST_P(Kernels, ThreeAxes) {
    Tensor c = zeros({2, 3, 2}, i32);
    kernel({2, 3, 2}, [&](Tensor i, Tensor j, Tensor k) { c(i, j, k) = i * 100 + j * 10 + k; });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}));
}

TEST_P(Kernels, WholeGroupsRunAndWhatIsOutsideIsDropped) {
    Tensor c = zeros({5}, i32), count = zeros({1}, i32);
    kernel({5}, {.group = {4}}, [&](Tensor i) {
        c(i) = local_index(0) * 10 + group_index(0);
        atomic_add(count(0), 1);
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, 10, 20, 30, 1}));
    EXPECT_EQ(count.item<int>(), 8);
}

TEST_P(Kernels, WithoutAGroupExactlyTheShapeRuns) {
    Tensor count = zeros({1}, i32);
    kernel({70}, [&](Tensor) { atomic_add(count(0), 1); });
    EXPECT_EQ(count.item<int>(), 70);
}

TEST_P(Kernels, OldVersionsStayAsTheyWere) {
    Tensor c = arange(4);
    Tensor old = c;
    kernel({4}, [&](Tensor i) { c(i) = c(i) * 2; });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, 2, 4, 6}));
    EXPECT_EQ(old.to_vector<int>(), (Ints{0, 1, 2, 3}));
}

TEST_P(Kernels, ReadingGivesTheVersionAtEntry) {
    Tensor c = arange(5);
    kernel({5}, [&](Tensor i) { c(i) = c(i - 1); });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, 0, 1, 2, 3}));
}

TEST_P(Kernels, OneReadsWhatAnotherMade) {
    Tensor a = zeros({4}, i32), b = zeros({4}, i32);
    auto turned = [](Tensor& to, const Tensor& from) {
        kernel({4}, {.group = {2}}, [&](Tensor i) {
            Shared s = shared(i32, 2);
            s(local_index(0)) = from(i);
            barrier();
            to(i) = s(1 - local_index(0)) * 10;
        });
    };
    turned(a, arange(4));
    turned(b, a);
    EXPECT_EQ(b.to_vector<int>(), (Ints{0, 100, 200, 300}));
}

TEST_P(Kernels, AnInvocationReadsWhatItStored) {
    Tensor c = arange(5);
    kernel({5}, [&](Tensor i) {
        c(i) = c(i) + 10;
        c(i) = c(i) * 2;
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{20, 22, 24, 26, 28}));
}

TEST_P(Kernels, StoresUnderABranch) {
    Tensor c = zeros({6}, i32);
    kernel({6}, [&](Tensor i) {
        if_(
            i % 2 == 0, [&] { c(i) = i; }, [&] { c(i) = -i; });
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{0, -1, 2, -3, 4, -5}));
}

/// The textbook's matrix product with tiles of shared memory; sizes that do not divide.
Tensor tiled_matmul(const Tensor& a, const Tensor& b, int tile) {
    const Size n = a.size(0), k = a.size(1), m = b.size(1);
    Tensor c = zeros({n, m});
    kernel({n, m}, {.group = {tile, tile}}, [&](Tensor i, Tensor j) {
        Shared a_tile = shared(f32, {tile, tile}), b_tile = shared(f32, {tile, tile});
        Tensor row = local_index(0), column = local_index(1);
        Tensor sum = 0.0f;
        for (Tensor t : loop(0, k, tile)) {
            a_tile(row, column) = zero(a)(i, t + column);
            b_tile(row, column) = zero(b)(t + row, j);
            barrier();
            for (Tensor q : loop(tile)) sum += a_tile(row, q) * b_tile(q, column);
            barrier();
        }
        c(i, j) = sum;
    });
    return c;
}

TEST_P(Kernels, MatrixProductInTiles) {
    Tensor a = tensor(floats(7 * 10, 0.25f), {7, 10}), b = tensor(floats(10 * 6, 0.5f), {10, 6});
    EXPECT_EQ(tiled_matmul(a, b, 4).to_vector<float>(), matmul(a, b).to_vector<float>());
}

TEST_P(Kernels, MatrixProductOfSymbolicSizes) {
    auto product = compile([](Tensor a, Tensor b) { return tiled_matmul(a, b, 4); },
                           {f32("n", "k"), f32("k", "m")});
    for (int n : {1, 4, 9}) {
        Tensor a = tensor(floats(n * 5, 0.25f), {n, 5}), b = tensor(floats(5 * 3, 0.5f), {5, 3});
        Tensor c = product(a, b);
        EXPECT_EQ(c.to_vector<float>(), matmul(a, b).to_vector<float>()) << n;
    }
}

/// Sums of groups by a tree in shared memory.
Tensor group_sums(const Tensor& x, int group) {
    Tensor sums = zeros({floor_div(x.size(0) + (group - 1), group)}, i32);
    kernel({x.size(0)}, {.group = {group}}, [&](Tensor i) {
        Shared part = shared(i32, group);
        Tensor at = local_index(0);
        part(at) = zero(x)(i);
        barrier();
        for (int half = group / 2; half > 0; half /= 2) {
            if_(at < half, [&] { part(at) = part(at) + part(at + half); });
            barrier();
        }
        if_(at == 0, [&] { sums(group_index(0)) = part(0); });
    });
    return sums;
}

TEST_P(Kernels, TreeOfSums) {
    EXPECT_EQ(group_sums(arange(20), 8).to_vector<int>(), (Ints{28, 92, 70}));
}

TEST_P(Kernels, TreeOfSumsInARecordedLoop) {
    Tensor x = arange(16), sums = zeros({2}, i32);
    kernel({16}, {.group = {8}}, [&](Tensor i) {
        Shared part = shared(i32, 8);
        Tensor at = local_index(0), half = 4;
        part(at) = x(i);
        barrier();
        for (Tensor step : loop(3)) {
            if_(at < half, [&] { part(at) = part(at) + part(at + half); });
            barrier();
            half = half / 2;
        }
        if_(at == 0, [&] { sums(group_index(0)) = part(0); });
    });
    EXPECT_EQ(sums.to_vector<int>(), (Ints{28, 92}));
}

TEST_P(Kernels, AtomicsGiveWhatWasThere) {
    Tensor seen = zeros({10}, i32), ticket = full({1}, 100);
    kernel({10}, [&](Tensor) {
        Tensor mine = atomic_add(ticket(0), 1);
        seen(mine - 100) = 1;
    });
    EXPECT_EQ(ticket.item<int>(), 110);
    EXPECT_EQ(seen.to_vector<int>(), Ints(10, 1));
}

TEST_P(Kernels, AtomicsInSharedMemory) {
    Tensor x = tensor(Ints{1, 2, 2, 3, 3, 3, 0, 3}), histogram = zeros({4}, i32);
    kernel({8}, {.group = {4}}, [&](Tensor i) {
        Shared bins = shared(i32, 4);
        Tensor at = local_index(0);
        atomic_add(bins(x(i)), 1);
        barrier();
        atomic_add(histogram(at), bins(at));
    });
    EXPECT_EQ(histogram.to_vector<int>(), (Ints{1, 1, 2, 4}));
}

TEST_P(Kernels, FloatsAreExchanged) {
    Tensor low = full({1}, 9.0f), x = tensor(Floats{3, -2, 5, 4});
    kernel({4}, {.group = {4}}, [&](Tensor i) {
        Shared smallest = shared(f32, 1);
        if_(local_index(0) == 0, [&] { smallest(0) = 1e30f; });
        barrier();
        atomic_min(smallest(0), x(i));
        barrier();
        if_(local_index(0) == 0, [&] { atomic_min(low(0), smallest(0)); });
    });
    EXPECT_EQ(low.item<float>(), -2.0f);
}

TEST_P(Kernels, AtomicsOfTheOtherOperations) {
    Tensor x = tensor(Ints{6, 3});
    Tensor low = full({1}, 5), high = full({1}, 5), all = full({1}, 7), any = full({1}, 8),
           odd = full({1}, 1), last = full({1}, -1);
    kernel({2}, [&](Tensor i) {
        atomic_min(low(0), x(i));
        atomic_max(high(0), x(i));
        atomic_and(all(0), x(i));
        atomic_or(any(0), x(i));
        atomic_xor(odd(0), x(i));
        atomic_exchange(last(0), x(0));
    });
    EXPECT_EQ(low.item<int>(), 3);
    EXPECT_EQ(high.item<int>(), 6);
    EXPECT_EQ(all.item<int>(), 7 & 6 & 3);
    EXPECT_EQ(any.item<int>(), 8 | 6 | 3);
    EXPECT_EQ(odd.item<int>(), 1 ^ 6 ^ 3);
    EXPECT_EQ(last.item<int>(), 6);
}

TEST_P(Kernels, LocalArrays) {
    Tensor c = zeros({3}, i32);
    kernel({3}, [&](Tensor i) {
        Local digits = local(i32, 4);
        for (Tensor k : loop(4)) digits(k) = i * 10 + k;
        Tensor sum = 0;
        for (Tensor k : loop(4)) sum += digits(3 - k) * (k + 1);
        c(i) = sum;
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{10, 110, 210}));
}

TEST_P(Kernels, ArraysStartAsZeros) {
    Tensor c = full({4}, -1);
    kernel({4}, {.group = {2}}, [&](Tensor i) {
        Shared s = shared(i32, 2);
        Local l = local(i32, 2);
        c(i) = s(local_index(0)) + l(1);
    });
    EXPECT_EQ(c.to_vector<int>(), Ints(4, 0));
}

TEST_P(Kernels, DivergentLoopsWithArrays) {
    Tensor c = zeros({4}, i32);
    kernel({4}, [&](Tensor i) {
        Local stack = local(i32, 8);
        Tensor depth = 0;
        for (Tensor k : loop(8)) {
            if_(k > i, [&] { break_(); });
            stack(depth) = k * k;
            depth += 1;
        }
        c(i) = stack(depth - 1) * 10 + depth;
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{1, 12, 43, 94}));
}

TEST_P(Kernels, SubgroupsExchange) {
    const int lanes = subgroup_size();
    const int n = lanes * 4;
    Tensor sum = zeros({n}, i32), running = zeros({n}, i32), first = zeros({n}, i32),
           any = zeros({n}, boolean);
    kernel({n}, {.group = {lanes * 2}}, [&](Tensor i) {
        sum(i) = subgroup_add(i);
        running(i) = subgroup_inclusive_add(i * 0 + 1);
        first(i) = subgroup_broadcast(i, 0);
        any(i) = subgroup_any(i == 3);
    });
    const std::vector<int> sums = sum.to_vector<int>(), counts = running.to_vector<int>(),
                           firsts = first.to_vector<int>(), anys = any.to_vector<int>();
    for (int k = 0; k < n; ++k) {
        const int begin = k / lanes * lanes;
        EXPECT_EQ(sums[static_cast<size_t>(k)], begin * lanes + lanes * (lanes - 1) / 2);
        EXPECT_EQ(counts[static_cast<size_t>(k)], k - begin + 1);
        EXPECT_EQ(firsts[static_cast<size_t>(k)], begin);
        EXPECT_EQ(anys[static_cast<size_t>(k)], begin == 0);
    }
}

// --- elements that only one invocation touches ---------------------------------------------------

TEST_P(Kernels, PairsOfASharedArray) {
    Tensor c = zeros({32}, i32);
    kernel({32}, {.group = {8}}, [&](Tensor i) {
        Shared s = shared(i32, 16);
        Tensor l = local_index(0);
        s(2 * l) = i;
        s(2 * l + 1) = 10 * i;
        if_(s(2 * l) < s(2 * l + 1), [&] { s(2 * l) = s(2 * l + 1) + s(2 * l); });
        c(i) = s(2 * l);
    });
    Ints expected;
    for (int i = 0; i < 32; ++i) expected.push_back(11 * i);
    EXPECT_EQ(c.to_vector<int>(), expected);
}

TEST_P(Kernels, PairsOfATensor) {
    Tensor c = zeros({20}, i32);
    kernel({10}, [&](Tensor i) {
        c(2 * i) = i;
        c(2 * i + 1) = c(2 * i) - 1;
    });
    EXPECT_EQ(sum(c).item<int>(), 2 * 45 - 10);
}

TEST_P(Kernels, PairsOfATensorOfSymbolicSize) {
    auto f = compile(
        [](Tensor x) {
            Tensor c = zeros({x.size(0) * 2}, i32);
            kernel({x.size(0)}, [&](Tensor i) {
                c(2 * i) = x(i);
                c(2 * i + 1) = c(2 * i) - 1;
            });
            return c;
        },
        {i32("n")});
    EXPECT_EQ(f(tensor({5, 7})).to_vector<int>(), (Ints{5, 4, 7, 6}));
}

TEST_P(Kernels, HalvesOfASharedArray) {
    Tensor c = zeros({16}, i32);
    kernel({16}, {.group = {8}}, [&](Tensor i) {
        Shared s = shared(i32, {2, 8}), flat = shared(i32, 16);
        Tensor l = local_index(0);
        s(0, l) = i;
        s(1, l) = -i;
        flat(l) = s(0, l) + 1;
        flat(l + 8) = s(1, l);
        c(i) = flat(l) + flat(l + 8);
    });
    EXPECT_EQ(c.to_vector<int>(), Ints(16, 1));
}

TEST_P(Kernels, AnAtomicOnAnOwnElement) {
    Tensor c = zeros({16}, i32);
    kernel({16}, {.group = {8}}, [&](Tensor i) {
        Shared s = shared(i32, 8);
        Tensor l = local_index(0);
        for (Tensor t : loop(3)) {
            if_(s(l) < 10, [&] { atomic_max(s(l), i + t); });
        }
        c(i) = s(l);
    });
    Ints expected;
    for (int i = 0; i < 16; ++i) expected.push_back(i < 8 ? i + 2 : std::max(i, i < 10 ? 10 : i));
    EXPECT_EQ(c.to_vector<int>(), expected);
}

/// Every step sorts pairs of elements, each of which one invocation has.
void sort_by_pairs(const Tensor& keys, Tensor& sorted) {
    kernel({8}, {.group = {8}}, [&](Tensor i) {
        Shared s = shared(i32, 16);
        s(i) = keys(i);
        s(i + 8) = keys(i + 8);
        for (int run = 2; run <= 16; run *= 2)
            for (int step = run / 2; step > 0; step /= 2) {
                barrier();
                Tensor low = i / step * step * 2 + i % step, high = low + step;
                Tensor up = (low & run) == 0, a = own(s)(low), b = own(s)(high);
                s(low) = select(up, min(a, b), max(a, b));
                s(high) = select(up, max(a, b), min(a, b));
                s(low) = own(s)(low);
            }
        barrier();
        sorted(i) = s(i);
        sorted(i + 8) = s(i + 8);
    });
}

TEST_P(Kernels, PairsByPromise) {
    Ints keys;
    for (int k = 0; k < 16; ++k) keys.push_back(k * 7 % 16);
    Tensor sorted = zeros({16}, i32);
    sort_by_pairs(tensor(keys), sorted);
    EXPECT_EQ(sorted.to_vector<int>(), arange(16).to_vector<int>());
}

TEST_P(Kernels, ElementsOfATensorByPromise) {
    Tensor to = tensor({3, 0, 2, 1}), c = zeros({4}, i32);
    kernel({4}, [&](Tensor i) {
        Tensor at = to(i);
        c(at) = i;
        c(at) = own(c)(at) + 10;
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{11, 13, 12, 10}));
}

// --- while_ --------------------------------------------------------------------------------------

TEST_P(Kernels, AWhileEndsWhereItsConditionSays) {
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

TEST_P(Kernels, AWhileThatGoesOnIsAnErrorWithItsLine) {
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
    expect_parts(message,
                 {"while_", "its condition still held", "kernel_test.cpp:" + std::to_string(line)});
}

TEST_P(Kernels, AWhileInACompiledKernelIsAnErrorOfTheCallsThatDoNotEnd) {
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
                 {"while_", "its condition still held", "kernel_test.cpp"});
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
    expect_parts(user_error([] { counted(70000).to_vector<int>(); }),
                 {"70000", "65535", "kernel_test.cpp"});
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
    expect_parts(user_error([&] { run(80000); }), {"while_", "kernel_test.cpp"});
}

TEST_P(Kernels, TensorCodeBeforeAndAfter) {
    Tensor x = arange(6) * 2;
    Tensor mean_of_x = mean(x.as(f32));
    Tensor c = zeros({6});
    kernel({6}, [&](Tensor i) { c(i) = x(5 - i).as(f32) - mean_of_x; });
    EXPECT_EQ((c * 2.0f).to_vector<float>(), (Floats{10, 6, 2, -2, -6, -10}));
}

TEST_P(Kernels, StepsOfARecordedLoop) {
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

TEST_P(Kernels, UnderABranch) {
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

TEST_P(Kernels, OverASizeThatOnlyTheDeviceKnows) {
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

// --- what is refused -----------------------------------------------------------------------------

TEST_P(Kernels, ArraysOfAGroupOverASizeThatOnlyTheDeviceKnows) {
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

TEST_P(Kernels, InALoopThatGivesThemWhatItDoesNotChange) {
    Tensor x = arange(4) + 1, c = zeros({4}, i32);
    for (Tensor step : loop(3))
        kernel({4}, {.group = {4}}, [&](Tensor i) { c(i) = c(i) * 10 + x(i) + step; });
    EXPECT_EQ(c.to_vector<int>(), (Ints{123, 234, 345, 456}));
}

TEST_P(Kernels, WhatOnlyALaterLoopReadsIsStoredOnce) {
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

TEST_P(Kernels, AnElementThatALoopFollowsIsEachInvocationsOwn) {
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

TEST_P(Kernels, AStoreToATensorThatIsMadeInsideIsAnError) {
    Tensor c = zeros({4}, i32), x = arange(4);
    expect_parts(user_error([&] {
                     kernel({4}, [&](Tensor i) {
                         Tensor own = x;
                         own(i) = 1;
                         c(i) = own(i);
                     });
                 }),
                 {"made there", "local(", "kernel_test.cpp"});
}

TEST_P(Kernels, ALocalArrayOfATurnBeginsAnewInEach) {
    Tensor c = zeros({4}, i32);
    kernel({4}, {.group = {4}}, [&](Tensor i) {
        Tensor sum = 0;
        for (Tensor t : loop(3)) {
            Local own = local(i32, 4);
            own(3) = i;            // the same in every turn
            own(t) = own(t) + 10;  // another place in each
            for (Tensor q : loop(4)) sum += own(q);
        }
        c(i) = sum;
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{30, 33, 36, 39}));
}

class RefusedKernels : public OracleTest {};

TEST_F(RefusedKernels, ABarrierUnderABranch) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(f32, 8);
                         if_(i < 3, [&] { barrier(); });
                         c(i) = s(0);
                     });
                 }),
                 {"barrier", "if_", "differs among invocations", "kernel_test.cpp"});
}

TEST_F(RefusedKernels, ABarrierInALoopThatSomeLeave) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(f32, 8);
                         for (Tensor k : loop(4)) {
                             barrier();
                             if_(i < k, [&] { break_(); });
                         }
                         c(i) = s(0);
                     });
                 }),
                 {"barrier", "break_", "kernel_test.cpp"});
}

TEST_F(RefusedKernels, ABarrierUnderAConditionOfTheWholeGroupIsFine) {
    Tensor c = zeros({8}, i32);
    kernel({8}, {.group = {4}}, [&](Tensor i) {
        Shared s = shared(i32, 4);
        s(local_index(0)) = i;
        if_(group_index(0) == 1, [&] { barrier(); });
        barrier();
        c(i) = s(3 - local_index(0));
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{3, 2, 1, 0, 7, 6, 5, 4}));
}

TEST_F(RefusedKernels, AssigningATensorFromOutside) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] { kernel({8}, [&](Tensor i) { c = c + i; }); }),
                 {"store to it by index", "kernel_test.cpp"});
}

TEST_F(RefusedKernels, SharedMemoryWithoutAGroup) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, [&](Tensor i) {
                         Shared s = shared(f32, 8);
                         c(i) = s(0);
                     });
                 }),
                 {"shared", "group", "kernel_test.cpp"});
}

TEST_F(RefusedKernels, OutsideAKernel) {
    Tensor c = zeros({8}, i32);
    expect_parts(user_error([&] { barrier(); }), {"barrier: only inside kernel"});
    expect_parts(user_error([&] { atomic_add(c(0), 1); }),
                 {"atomic_add: only inside kernel", "scatter_add"});
}

TEST_F(RefusedKernels, WhatNeedsMoreThanOneDispatch) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, [&](Tensor i) {
                         print_value(i);
                         c(i) = 1;
                     });
                 }),
                 {"print_value: not inside kernel", "kernel_test.cpp"});
    expect_parts(user_error([&] {
                     kernel({8}, [&](Tensor i) { kernel({8}, [&](Tensor j) { c(j) = i; }); });
                 }),
                 {"inside another kernel", "kernel_test.cpp"});
}

TEST_F(RefusedKernels, AKernelThatStoresNothing) {
    expect_parts(user_error([&] { kernel({8}, [&](Tensor) {}); }), {"stores nothing"});
}

TEST_F(RefusedKernels, GroupsOfOtherRank) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {4, 4}}, [&](Tensor i) { c(i) = 1; });
                 }),
                 {"a group of 2 axes"});
    expect_parts(user_error([&] { kernel({8}, {.group = {0}}, [&](Tensor i) { c(i) = 1; }); }),
                 {"a group of 0"});
}

class RefusedWhenCompiled : public ::testing::Test {
  protected:
    Session session_ = Session::interpreter();
    SessionScope scope_{session_};
};

TEST_F(RefusedWhenCompiled, TooMuchSharedMemory) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(f32, 100000);
                         s(i) = 1;
                         barrier();
                         c(i) = s(0);
                     });
                     c.to_vector<float>();
                 }),
                 {"shared arrays", "400000 bytes", "32768", "kernel_test.cpp"});
}

TEST_F(RefusedWhenCompiled, TooLargeAGroup) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {2048}}, [&](Tensor i) { c(i) = 1; });
                     c.to_vector<float>();
                 }),
                 {"2048 invocations", "1024", "kernel_test.cpp"});
}

TEST_F(RefusedWhenCompiled, WhatAnotherInvocationStoredWithoutABarrier) {
    Tensor c = zeros({8}, i32);
    expect_parts(user_error([&] {
                     kernel({8}, [&](Tensor i) {
                         c(i) = i;
                         c(i) = c(i + 1);
                     });
                     c.to_vector<int>();
                 }),
                 {"another invocation", "kernel_test.cpp"});
}

TEST_F(RefusedWhenCompiled, SharedMemoryReadWithoutABarrier) {
    Tensor c = zeros({8}, i32);
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(i32, 8);
                         s(i) = i;
                         c(i) = s(7 - i);
                     });
                     c.to_vector<int>();
                 }),
                 {"barrier()", "kernel_test.cpp"});
}

TEST_F(RefusedWhenCompiled, PairsThatMeet) {
    Tensor c = zeros({8}, i32);
    auto read_after = [&](int step, int offset, int size) {
        return user_error([&] {
            kernel({8}, {.group = {8}}, [&](Tensor i) {
                Shared s = shared(i32, size);
                s(step * i) = i;
                c(i) = s(2 * i + offset);
            });
            c.to_vector<int>();
        });
    };
    EXPECT_EQ(read_after(2, 1, 16), "");
    EXPECT_EQ(read_after(2, -1, 16).find("barrier()") == std::string::npos,
              false);  // the first reads at the edge
    EXPECT_EQ(read_after(2, 2, 18).find("barrier()") == std::string::npos, false);
    EXPECT_EQ(read_after(3, 1, 32).find("barrier()") == std::string::npos, false);
    EXPECT_EQ(read_after(2, 1, 15).find("barrier()") == std::string::npos,
              false);  // the last reads at the edge
}

TEST_F(RefusedWhenCompiled, APromiseThatIsNotKept) {
    Tensor c = zeros({8}, i32);
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(i32, 8);
                         s(i) = i;
                         c(i) = own(s)(7 - i);
                     });
                     c.to_vector<int>();
                 }),
                 {"one invocation stores", "another reads", "kernel_test.cpp"});
}

TEST_F(RefusedWhenCompiled, APromiseOutsideAKernel) {
    expect_parts(user_error([&] { own(zeros({4}))(0); }),
                 {"own", "kernel(...)", "kernel_test.cpp"});
}

TEST_F(RefusedWhenCompiled, AStoreToWhatAnotherInvocationMayStillRead) {
    Tensor c = zeros({8}, i32);
    expect_parts(
        user_error([&] {
            kernel({8}, {.group = {8}}, [&](Tensor i) {
                Shared s = shared(i32, 8);
                s(i) = i;
                barrier();
                c(i) = s(7 - i);
                s(i) = i * 2;
                barrier();
                c(i) = c(i) + s(i);
            });
            c.to_vector<int>();
        }),
        {"one invocation reads", "another stores", "without a barrier", "kernel_test.cpp"});
}

TEST_F(RefusedWhenCompiled, TwoStoresToOnePlaceWithoutABarrier) {
    Tensor c = zeros({8}, i32);
    expect_parts(
        user_error([&] {
            kernel({8}, {.group = {8}}, [&](Tensor i) {
                Shared s = shared(i32, 8);
                s(i) = i;
                s(7 - i) = 2 * i;
                barrier();
                c(i) = s(i);
            });
            c.to_vector<int>();
        }),
        {"one invocation stores", "another stores", "without a barrier", "kernel_test.cpp"});
}

}  // namespace
}  // namespace firn
