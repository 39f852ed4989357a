// Poisson's equation on a square by conjugate gradients.
#include <firn/firn.h>

#include "tests/bench/strangers/strangers.h"

namespace firn::bench {
namespace {

constexpr int kSide = 256, kTurns = 50;
constexpr int64_t kCells = int64_t(kSide) * kSide;

Tensor five_points(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    Reader at = zero(x);
    return 4.0f * x - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1);
}

/// M. Hestenes and E. Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems", 1952.
Tensor solved(Tensor b) {
    Tensor x = zeros(b.shape()), residual = b, direction = b, squared = sum(b * b);
    for (Tensor turn : loop(kTurns)) {
        Tensor image = five_points(direction);
        Tensor length = squared / sum(direction * image);
        x += length * direction;
        residual -= length * image;
        Tensor next = sum(residual * residual);
        direction = residual + next / squared * direction;
        squared = next;
    }
    return x;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double out = 0;
    for (size_t k = 0; k < a.size(); ++k) out += a[k] * b[k];
    return out;
}

std::vector<std::vector<float>> host_solved(const std::vector<float>& b) {
    std::vector<double> x(b.size()), residual(b.begin(), b.end()), direction = residual,
                                                                   image(b.size());
    double squared = dot(residual, residual);
    for (int turn = 0; turn < kTurns; ++turn) {
        for (size_t k = 0; k < b.size(); ++k) {
            const size_t i = k / kSide, j = k % kSide;
            image[k] = 4 * direction[k];
            if (i > 0) image[k] -= direction[k - kSide];
            if (i + 1 < kSide) image[k] -= direction[k + kSide];
            if (j > 0) image[k] -= direction[k - 1];
            if (j + 1 < kSide) image[k] -= direction[k + 1];
        }
        const double length = squared / dot(direction, image);
        for (size_t k = 0; k < b.size(); ++k)
            x[k] += length * direction[k], residual[k] -= length * image[k];
        const double next = dot(residual, residual);
        for (size_t k = 0; k < b.size(); ++k)
            direction[k] = residual[k] + next / squared * direction[k];
        squared = next;
    }
    return {std::vector<float>(x.begin(), x.end())};
}

Contest conjugate_gradients() {
    auto f = compile(solved, {f32("h", "w")});
    const std::vector<float> b = numbers(kCells, -1, 1);
    // In every turn, of a cell: the stencil 5, two products summed 4, three updates 6. All of it
    // stays in caches.
    return {.least = {4.0 * kCells, 4.0 * kCells, 15.0 * kTurns * kCells},
            .arguments = {},
            .results = {kCells},
            .firn = [f, x = tensor(b, {kSide, kSide})] { return std::vector<Tensor>{f(x)}; },
            .best = {},
            .plain = {},
            .tolerance = 1e-3,
            .expected = [b] { return host_solved(b); }};
}

}  // namespace

void add_solvers(std::vector<Case>& cases) {
    cases.push_back({"conjugate_gradients", conjugate_gradients, Section::HeldOut});
}

}  // namespace firn::bench
