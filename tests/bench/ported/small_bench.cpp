// Small work in many steps: factorisations as loops, a Poisson solver, sums along a short axis.
#include <firn/firn.h>

#include <algorithm>
#include <cmath>

#include "tests/bench/ported/ported.h"

namespace firn::bench {
namespace {

using Floats = std::vector<float>;

constexpr int kMatrix = 64;

/// Random, and well conditioned.
Floats matrix() {
    Floats out = numbers(kMatrix * kMatrix, -1, 1);
    for (int k = 0; k < kMatrix; ++k) out[size_t(k * kMatrix + k)] += 8;
    return out;
}

/// By Gram and Schmidt, as the product that is to be the matrix again.
Tensor factorised(Tensor a) {
    Size m = a.size(0), n = a.size(1);
    auto [i, k] = indices<2>(a.shape());
    Tensor q = zeros(a.shape()), r = zeros({n, n}), rows = arange(m), columns = arange(n);
    for (Tensor j : loop(n)) {
        Tensor column = a(rows, j), unit = column / sqrt(sum(column * column));
        Tensor dots = sum(reshape(unit, {m, 1}) * a, {.axis = 0});
        r(j, columns) = select(columns >= j, dots, 0.0f);
        q(rows, j) = unit;
        a = select(k > j, a - reshape(unit, {m, 1}) * dots, a);
    }
    return matmul(q, r);
}

/// By Gauss and Jordan, without pivots.
Tensor inverted(Tensor a) {
    auto [i, j] = indices<2>(a.shape());
    Tensor out = select(i == j, 1.0f, 0.0f), all = arange(a.size(0));
    for (Tensor k : loop(a.size(0))) {
        Tensor row = a(k, all) / a(k, k), of_out = out(k, all) / a(k, k);
        Tensor factor = reshape(a(all, k), {a.size(0), 1});
        out = select(i == k, of_out(j), out - factor * of_out(j));
        a = select(i == k, row(j), a - factor * row(j));
    }
    return out;
}

Floats host_inverse(const Floats& of) {
    constexpr int n = kMatrix;
    std::vector<double> a(of.begin(), of.end()), out(of.size());
    for (int k = 0; k < n; ++k) out[size_t(k * n + k)] = 1;
    for (int k = 0; k < n; ++k) {
        const double pivot = a[size_t(k * n + k)];
        for (int j = 0; j < n; ++j) a[size_t(k * n + j)] /= pivot, out[size_t(k * n + j)] /= pivot;
        for (int i = 0; i < n; ++i) {
            const double factor = a[size_t(i * n + k)];
            if (i == k) continue;
            for (int j = 0; j < n; ++j) {
                a[size_t(i * n + j)] -= factor * a[size_t(k * n + j)];
                out[size_t(i * n + j)] -= factor * out[size_t(k * n + j)];
            }
        }
    }
    return Floats(out.begin(), out.end());
}

Contest of_matrix(Tensor (*f)(Tensor), bool gives_inverse) {
    const Floats a = matrix();
    constexpr double n = kMatrix;
    auto run = compile(f, {f32("m", "n")});
    return {
        .least = {4 * n * n, 4 * n * n, 2 * n * n * n},
        .arguments = {},
        .results = {kMatrix * kMatrix},
        .firn = [run, x = tensor(a, {kMatrix, kMatrix})] { return std::vector<Tensor>{run(x)}; },
        .best = {},
        .plain = {},
        .tolerance = 1e-4,
        .expected =
            [a, gives_inverse] {
                return std::vector<Floats>{gives_inverse ? host_inverse(a) : a};
            }};
}

constexpr int kGrid = 128, kIterations = 256;

Tensor relaxed(Tensor source) {
    auto [i, j] = indices<2>(source.shape());
    Tensor u = zeros(source.shape());
    for (Tensor k : loop(kIterations))
        u = 0.25f * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - source);
    return u;
}

Contest poisson() {
    const Floats source = numbers(kGrid * kGrid, -1, 1);
    auto f = compile(relaxed, {f32("h", "w")});
    const auto host = [source] {
        Floats u(source.size()), next = u;
        const auto at = [&](int i, int j) {
            return u[size_t(std::clamp(i, 0, kGrid - 1) * kGrid + std::clamp(j, 0, kGrid - 1))];
        };
        for (int k = 0; k < kIterations; ++k, std::swap(u, next))
            for (int i = 0; i < kGrid; ++i)
                for (int j = 0; j < kGrid; ++j)
                    next[size_t(i * kGrid + j)] =
                        0.25f * (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) -
                                 source[size_t(i * kGrid + j)]);
        return std::vector<Floats>{u};
    };
    constexpr double cells = kGrid * kGrid;
    return {.least = {4 * cells, 4 * cells, 5.0 * kIterations * cells},
            .arguments = {},
            .results = {kGrid * kGrid},
            .firn = [f, b = tensor(source, {kGrid, kGrid})] { return std::vector<Tensor>{f(b)}; },
            .best = {},
            .plain = {},
            .tolerance = 1e-4,
            .expected = host};
}

constexpr int kSums[] = {25, 61, 153};

Contest scan(int axis) {
    const int64_t count = int64_t(kSums[0]) * kSums[1] * kSums[2];
    const Floats x = numbers(count, -1, 1);
    auto f = compile([axis](Tensor values) { return cumsum(values, {.axis = axis}); },
                     {f32("a", "b", "c")});
    const auto host = [=] {
        const int64_t step = axis == 0 ? kSums[1] * kSums[2] : 1;
        std::vector<double> sums(x.begin(), x.end());
        for (int64_t k = 0; k < count; ++k)
            if (k / step % kSums[axis] > 0) sums[size_t(k)] += sums[size_t(k - step)];
        return std::vector<Floats>{Floats(sums.begin(), sums.end())};
    };
    return {.least = {4.0 * double(count), 4.0 * double(count), double(count)},
            .arguments = {},
            .results = {count},
            .firn = [f, values = tensor(x, {kSums[0], kSums[1],
                                            kSums[2]})] { return std::vector<Tensor>{f(values)}; },
            .best = {},
            .plain = {},
            .tolerance = 1e-5,
            .expected = host};
}

}  // namespace

void add_ported_small(std::vector<Case>& cases) {
    cases.push_back({"qr_by_hand", [] { return of_matrix(factorised, false); }, Section::Ported});
    cases.push_back({"inverse_by_hand", [] { return of_matrix(inverted, true); }, Section::Ported});
    cases.push_back({"poisson", poisson, Section::Ported});
    cases.push_back({"scan_outer", [] { return scan(0); }, Section::Ported});
    cases.push_back({"scan_inner", [] { return scan(2); }, Section::Ported});
}

}  // namespace firn::bench
