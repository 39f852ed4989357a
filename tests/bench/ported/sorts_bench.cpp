// Sorts as one writes them: bitonic ones by stores and by kernels, and one by digits of four bits.
#include <firn/firn.h>

#include <algorithm>
#include <numeric>

#include "tests/bench/ported/ported.h"

namespace firn::bench {
namespace {

constexpr int kLevels = 20;
constexpr int64_t kCount = int64_t(1) << kLevels;

/// The pairs that step `j` of level `k` compares, and whether they change places: t-th of all.
struct Pairs {
    Tensor low, high, a, b, swap;
    Pairs(const Tensor& x, const Tensor& t, const Tensor& k, const Tensor& j) {
        Tensor distance = 1 << (k - j);
        low = t / distance * (2 * distance) + t % distance;
        high = low + distance;
        a = x(low), b = x(high);
        swap = (a > b) == ((low & (2 << k)) == 0);
    }
};

Tensor sorted_by_stores(Tensor x) {
    for (Tensor k : loop(kLevels))
        for (Tensor j : loop(k + 1)) {
            const Pairs pairs(x, arange(floor_div(x.size(0), 2)), k, j);
            x(pairs.low) = select(pairs.swap, pairs.b, pairs.a);
            x(pairs.high) = select(pairs.swap, pairs.a, pairs.b);
        }
    return x;
}

Tensor sorted_by_kernels(Tensor x) {
    for (Tensor k : loop(kLevels))
        for (Tensor j : loop(k + 1))
            kernel({floor_div(x.size(0), 2)}, [&](Tensor t) {
                const Pairs pairs(x, t, k, j);
                x(pairs.low) = select(pairs.swap, pairs.b, pairs.a);
                x(pairs.high) = select(pairs.swap, pairs.a, pairs.b);
            });
    return x;
}

Tensor sorted_by_values(Tensor x) {
    Tensor i = arange(x.size(0));
    for (Tensor k : loop(kLevels))
        for (Tensor j : loop(k + 1)) {
            Tensor other = i ^ (1 << (k - j)), y = x(other);
            x = select((other > i) == ((i & (2 << k)) == 0), min(x, y), max(x, y));
        }
    return x;
}

Contest bitonic(Tensor (*sorted)(Tensor)) {
    const std::vector<float> keys = numbers(kCount, -1, 1);
    auto f = compile(sorted, {f32("n")});
    return {.least = {4.0 * kCount, 4.0 * kCount, 2.0 * kCount * kLevels},
            .arguments = {},
            .results = {kCount},
            .firn = [f, x = tensor(keys)] { return std::vector<Tensor>{f(x)}; },
            .best = {},
            .plain = {},
            .tolerance = 0,
            .expected =
                [keys] {
                    std::vector<float> out = keys;
                    std::sort(out.begin(), out.end());
                    return std::vector<std::vector<float>>{out};
                }};
}

/// Counts of each block's digits, summed up, say where the block's keys of a digit begin.
std::tuple<Tensor, Tensor> sorted_by_digits(Tensor keys, Tensor values) {
    constexpr int kBlock = 64;
    Size n = keys.size(0), blocks = ceil_div(n, kBlock);
    Tensor i = arange(n), block = i / kBlock;
    for (Tensor pass : loop(8)) {
        Tensor digit = (keys >> (4 * pass)) & 15;
        Tensor counts = zeros({16, blocks}, i32);
        scatter_add(counts(digit, block), 1);
        Tensor flat = reshape(counts, {16 * blocks});
        Tensor begin = reshape(cumsum(flat) - flat, {16, blocks}), rank = zeros({n}, i32);
        for (Tensor k : loop(kBlock)) {
            Tensor other = block * kBlock + k;
            rank = rank + select((other < i) & (digit(other) == digit), 1, 0);
        }
        Tensor to = begin(digit, block) + rank, old_keys = keys, old_values = values;
        keys(to) = old_keys;
        values(to) = old_values;
    }
    return {keys, values};
}

Contest radix_pairs() {
    std::vector<int> keys;
    for (float x : numbers(kCount, 0, 1)) keys.push_back(int(x * 1e9f));
    auto f = compile(sorted_by_digits, {i32("n"), i32("n")});
    return {.least = {8.0 * kCount, 8.0 * kCount, 8.0 * kCount},
            .arguments = {},
            .results = {kCount, kCount},
            .firn =
                [f, k = tensor(keys), v = arange(kCount)] {
                    auto [sorted, places] = f(k, v);
                    return std::vector<Tensor>{sorted, places};
                },
            .best = {},
            .plain = {},
            .tolerance = 0,
            .expected =
                [keys] {
                    std::vector<int> places(keys.size()), sorted;
                    std::iota(places.begin(), places.end(), 0);
                    std::stable_sort(places.begin(), places.end(), [&](int a, int b) {
                        return keys[size_t(a)] < keys[size_t(b)];
                    });
                    for (int place : places) sorted.push_back(keys[size_t(place)]);
                    const std::vector<std::vector<float>> out{{sorted.begin(), sorted.end()},
                                                              {places.begin(), places.end()}};
                    return out;
                }};
}

}  // namespace

void add_ported_sorts(std::vector<Case>& cases) {
    cases.push_back({"bitonic_stores", [] { return bitonic(sorted_by_stores); }, Section::Ported});
    cases.push_back(
        {"bitonic_kernels", [] { return bitonic(sorted_by_kernels); }, Section::Ported});
    cases.push_back({"bitonic_values", [] { return bitonic(sorted_by_values); }, Section::Ported});
    cases.push_back({"radix_pairs", radix_pairs, Section::Ported});
}

}  // namespace firn::bench
