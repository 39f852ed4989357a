// Kernels by hand: atomics, arrays of their own and of groups, subgroups.
#include "compiler/ir/regions.h"
#include "tests/emitting.h"
#include "tests/frontend/kernels.h"

namespace firn {
namespace {

class KernelMemory : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Executors, KernelMemory, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

TEST_P(KernelMemory, AtomicsGiveWhatWasThere) {
    Tensor seen = zeros({10}, i32), ticket = full({1}, 100);
    kernel({10}, [&](Tensor) {
        Tensor mine = atomic_add(ticket(0), 1);
        seen(mine - 100) = 1;
    });
    EXPECT_EQ(ticket.item<int>(), 110);
    EXPECT_EQ(seen.to_vector<int>(), Ints(10, 1));
}

/// Stores outside by the remainder of the last group are dropped.
TEST_P(KernelMemory, PermutationsOfShapesThatAreNoWholeGroups) {
    for (int n : {5, 8, 11}) {
        Tensor turned = zeros({n}, i32), plain = zeros({n}, i32), some = zeros({n}, i32),
               others = zeros({n}, i32);
        kernel({n}, {.group = {4}},
               [&](Tensor i) { store(turned(n - 1 - i), 3 * i, {.permutation = true}); });
        kernel({n}, [&](Tensor i) { store(plain(n - 1 - i), 3 * i, {.permutation = true}); });
        kernel({n + 3}, [&](Tensor i) {
            if_(i < n, [&] { store(some(n - 1 - i), 3 * i, {.permutation = true}); });
        });
        kernel({n + 3}, [&](Tensor i) {
            if_(!(i >= n), [&] { store(others(n - 1 - i), 3 * i, {.permutation = true}); });
        });
        Ints expected;
        for (int k = 0; k < n; ++k) expected.push_back(3 * (n - 1 - k));
        EXPECT_EQ(turned.to_vector<int>(), expected);
        EXPECT_EQ(plain.to_vector<int>(), expected);
        EXPECT_EQ(some.to_vector<int>(), expected);
        EXPECT_EQ(others.to_vector<int>(), expected);
    }
}

TEST_P(KernelMemory, PermutationsReadFromATableUnderACondition) {
    const int n = 5;
    Tensor table = tensor(Ints{3, 0, 4, 1, 2, 0, 0, 0}), out = zeros({n}, i32), some = out;
    kernel({n + 3}, [&](Tensor i) {
        if_(i < n, [&] { store(out(table(i)), 3 * i + 1, {.permutation = true}); });
        if_(!(i >= n), [&] { store(some(table(i)), 3 * i + 1, {.permutation = true}); });
    });
    EXPECT_EQ(out.to_vector<int>(), (Ints{4, 10, 13, 1, 7}));
    EXPECT_EQ(some.to_vector<int>(), (Ints{4, 10, 13, 1, 7}));
}

TEST_P(KernelMemory, AtomicsInSharedMemory) {
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

TEST_P(KernelMemory, FloatsAreExchanged) {
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

TEST_P(KernelMemory, AtomicsOfTheOtherOperations) {
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

TEST_P(KernelMemory, LocalArrays) {
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

TEST_P(KernelMemory, ArraysStartAsZeros) {
    Tensor c = full({4}, -1);
    kernel({4}, {.group = {2}}, [&](Tensor i) {
        Shared s = shared(i32, 2);
        Local l = local(i32, 2);
        c(i) = s(local_index(0)) + l(1);
    });
    EXPECT_EQ(c.to_vector<int>(), Ints(4, 0));
}

TEST_P(KernelMemory, DivergentLoopsWithArrays) {
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

TEST_P(KernelMemory, SubgroupsExchange) {
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

TEST_P(KernelMemory, PairsOfASharedArray) {
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

TEST_P(KernelMemory, PairsOfATensor) {
    Tensor c = zeros({20}, i32);
    kernel({10}, [&](Tensor i) {
        c(2 * i) = i;
        c(2 * i + 1) = c(2 * i) - 1;
    });
    EXPECT_EQ(sum(c).item<int>(), 2 * 45 - 10);
}

TEST_P(KernelMemory, PairsOfATensorOfSymbolicSize) {
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

TEST_P(KernelMemory, HalvesOfASharedArray) {
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

TEST_P(KernelMemory, AnAtomicOnAnOwnElement) {
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

TEST_P(KernelMemory, PairsByPromise) {
    Ints keys;
    for (int k = 0; k < 16; ++k) keys.push_back(k * 7 % 16);
    Tensor sorted = zeros({16}, i32);
    sort_by_pairs(tensor(keys), sorted);
    EXPECT_EQ(sorted.to_vector<int>(), arange(16).to_vector<int>());
}

TEST_P(KernelMemory, ElementsOfATensorByPromise) {
    Tensor to = tensor({3, 0, 2, 1}), c = zeros({4}, i32);
    kernel({4}, [&](Tensor i) {
        Tensor at = to(i);
        c(at) = i;
        c(at) = own(c)(at) + 10;
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{11, 13, 12, 10}));
}

/// Sums of four neighbours each, of a size that may leave some of the last block behind the end.
Tensor sums_of_fours(const Tensor& x) {
    Tensor sums = zeros({(x.size(0) + 3) / 4});
    kernel({sums.size(0)}, [&](Tensor i) {
        Tensor sum = 0.0f;
        for (int k = 0; k < 4; ++k) sum += zero(x)(4 * i + k);
        sums(i) = sum;
    });
    return sums;
}

TEST(KernelBlocks, NeighboursAreReadAsOneBlock) {
    SessionScope scope(emitting());
    auto f = compile(
        [](Tensor x) {
            Tensor sums = zeros({16});
            kernel({16}, [&](Tensor i) {
                sums(i) = (x(4 * i) + x(4 * i + 1)) + (x(4 * i + 2) + x(4 * i + 3));
            });
            return sums;
        },
        {f32(64)});
    EXPECT_EQ(f(cast<float>(arange(64)))(15).item<float>(), 4 * 60 + 6);
    const std::string& glsl = f.program()->kernels.back().artefact.text;
    EXPECT_NE(glsl.find("rgba32f"), std::string::npos) << glsl;
    EXPECT_EQ(glsl.find("r32f)"), std::string::npos) << glsl;
}

TEST(KernelBlocks, EndWhereTheTensorDoes) {
    for (int n : {1, 2, 3, 4, 5, 63, 64, 66}) {
        SessionScope scope(emitting());
        std::vector<float> expected(size_t(n + 3) / 4);
        for (int k = 0; k < n; ++k) expected[size_t(k) / 4] += float(k + 1);
        EXPECT_EQ(sums_of_fours(cast<float>(arange(n)) + 1.0f).to_vector<float>(), expected) << n;
    }
}

/// x in groups of four, the last one first, by `f(to, from)`.
template <class F>
auto turned(F store_four) {
    return compile(
        [=](Tensor x) {
            Tensor out = zeros({64});
            kernel({16}, {.group = {16}}, [&](Tensor i) { store_four(out, x, 4 * i, 60 - 4 * i); });
            return out;
        },
        {f32(64)});
}
bool stores_blocks(const Function& f) {
    return f.program()->kernels.back().artefact.text.find("{ vec4 ") != std::string::npos;
}

TEST(KernelBlocks, NeighboursAreStoredAsOneBlock) {
    SessionScope scope(emitting());
    auto f = turned([](Tensor& out, const Tensor& x, const Tensor& to, const Tensor& from) {
        for (int k : {2, 0, 3, 1}) out(to + k) = x(from + k);
    });
    const std::vector<float> values = f(cast<float>(arange(64))).to_vector<float>();
    for (size_t k = 0; k < 64; ++k) EXPECT_EQ(values[k], float(60 - k / 4 * 4 + k % 4)) << k;
    EXPECT_TRUE(stores_blocks(f)) << f.program()->kernels.back().artefact.text;
}

/// Two bindings of one memory would leave open which store comes last.
TEST(KernelBlocks, WhatElseIsStoredOrReadKeepsAllStoresSingle) {
    SessionScope scope(emitting());
    auto twice = turned([](Tensor& out, const Tensor& x, const Tensor& to, const Tensor& from) {
        for (int k = 0; k < 4; ++k) out(to + k) = x(from + k);
        if_(x(from) > 50.0f, [&] { out(to) = 1.0f; });
    });
    auto read = compile(
        [](Tensor x) {
            Tensor out = zeros({64}), sums = zeros({16});
            kernel({16}, [&](Tensor i) {
                for (int k = 0; k < 4; ++k) out(4 * i + k) = x(60 - 4 * i + k);
                sums(i) = own(out)(4 * i) + own(out)(4 * i + 1);
            });
            return std::tuple{out, sums};
        },
        {f32(64)});
    auto three = turned([](Tensor& out, const Tensor& x, const Tensor& to, const Tensor& from) {
        for (int k = 0; k < 3; ++k) out(to + k) = x(from + k);
    });
    const Tensor x = cast<float>(arange(64));
    EXPECT_EQ(twice(x)(0).item<float>(), 1);
    EXPECT_EQ(std::get<1>(read(x))(0).item<float>(), 60 + 61);
    EXPECT_EQ(three(x)(3).item<float>(), 0);
    EXPECT_FALSE(stores_blocks(twice) || stores_blocks(read) || stores_blocks(three));
}

/// The last of a row of kernels that each read the results of the one before.
Tensor row_of_kernels(int count) {
    Tensor x = cast<float>(arange(8));
    for (int k = 0; k < count; ++k) {
        Tensor next = zeros({8});
        kernel({8}, [&](Tensor i) { next(i) = x(7 - i) + 1.0f; });
        x = next;
    }
    return x;
}

/// Otherwise the time of a program of many kernels would grow with the square of their number.
TEST(KernelRows, AKernelDoesNotLookIntoThoseBeforeIt) {
    SessionScope scope(emitting());
    const Placement few = place_by_hand({row_of_kernels(2).node()}),
                    many = place_by_hand({row_of_kernels(20).node()});
    EXPECT_EQ(many.regions.size(), few.regions.size());
    EXPECT_EQ(few.regions.size(), 2u) << "the root, and the kernel's own";
    EXPECT_EQ(row_of_kernels(20).to_vector<float>()[0], 20);
}

}  // namespace
}  // namespace firn
