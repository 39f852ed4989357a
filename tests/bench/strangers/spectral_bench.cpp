// A pseudospectral step of the Navier-Stokes equations on a periodic square.
#include <firn/firn.h>

#include <cmath>
#include <complex>

#include "tests/bench/strangers/strangers.h"

namespace firn::bench {
namespace {

constexpr int kSide = 256;
constexpr int64_t kCells = int64_t(kSide) * kSide;
constexpr float kTime = 0.01f, kViscosity = 1e-3f;

/// The spectrum times i k.
Complex derivative(const Complex& x, const Tensor& k) { return {-(k * x.im), k * x.re}; }

/// The vorticity a time step later: advection explicit and without the upper third of the waves,
/// viscosity implicit.
Tensor spectral_step(Tensor vorticity, Tensor dt, Tensor viscosity) {
    auto [i, j] = indices<2>(vorticity.shape());
    auto n = vorticity.size(0), m = vorticity.size(1);
    Tensor ky = cast<float>(select(i < n / 2, i, i - n)),
           kx = cast<float>(select(j < m / 2, j, j - m));
    Tensor squared = kx * kx + ky * ky;
    Complex w = fftn(vorticity);
    Complex stream = w * (1.0f / max(squared, 1.0f));
    Tensor u = ifftn(derivative(stream, ky)).re, v = -ifftn(derivative(stream, kx)).re;
    Tensor across = ifftn(derivative(w, kx)).re, down = ifftn(derivative(w, ky)).re;
    Complex advection = fftn(u * across + v * down);
    Tensor kept = select((abs(kx) < m / 3) & (abs(ky) < n / 3), 1.0f, 0.0f);
    Complex next = (w - advection * (dt * kept)) * (1.0f / (1.0f + viscosity * dt * squared));
    return ifftn(next).re;
}

using Numbers = std::vector<std::complex<double>>;

/// In place, along a line of `step`; the inverse is not scaled.
void transform_line(Numbers& x, size_t first, size_t step, double sign) {
    constexpr size_t n = kSide;
    auto at = [&](size_t k) -> std::complex<double>& { return x[first + k * step]; };
    for (size_t k = 1, r = 0; k < n; ++k) {
        size_t bit = n / 2;
        for (; r & bit; bit /= 2) r ^= bit;
        r ^= bit;
        if (k < r) std::swap(at(k), at(r));
    }
    for (size_t half = 1; half < n; half *= 2)
        for (size_t k = 0; k < half; ++k) {
            const auto turn = std::polar(1.0, sign * M_PI * double(k) / double(half));
            for (size_t low = k; low < n; low += 2 * half) {
                const auto a = at(low), b = at(low + half) * turn;
                at(low) = a + b;
                at(low + half) = a - b;
            }
        }
}

Numbers transformed(Numbers x, bool inverse) {
    for (size_t k = 0; k < kSide; ++k) transform_line(x, k * kSide, 1, inverse ? 1 : -1);
    for (size_t k = 0; k < kSide; ++k) transform_line(x, k, kSide, inverse ? 1 : -1);
    if (inverse)
        for (auto& value : x) value /= double(kCells);
    return x;
}

std::vector<std::vector<float>> host_step(const std::vector<float>& vorticity) {
    const Numbers w = transformed(Numbers(vorticity.begin(), vorticity.end()), false);
    auto wave = [](size_t k) { return k < kSide / 2 ? double(k) : double(k) - kSide; };
    Numbers u(w.size()), v(w.size()), across(w.size()), down(w.size());
    const std::complex<double> unit(0, 1);
    for (size_t k = 0; k < w.size(); ++k) {
        const double ky = wave(k / kSide), kx = wave(k % kSide);
        const auto stream = w[k] / std::max(kx * kx + ky * ky, 1.0);
        u[k] = unit * ky * stream, v[k] = -unit * kx * stream;
        across[k] = unit * kx * w[k], down[k] = unit * ky * w[k];
    }
    for (Numbers* field : {&u, &v, &across, &down}) *field = transformed(*field, true);
    Numbers advection(w.size());
    for (size_t k = 0; k < w.size(); ++k)
        advection[k] = u[k].real() * across[k].real() + v[k].real() * down[k].real();
    advection = transformed(advection, false);
    Numbers next(w.size());
    for (size_t k = 0; k < w.size(); ++k) {
        const double ky = wave(k / kSide), kx = wave(k % kSide);
        const bool kept = std::abs(kx) < kSide / 3 && std::abs(ky) < kSide / 3;
        next[k] = (w[k] - (kept ? double(kTime) : 0.0) * advection[k]) /
                  (1 + double(kViscosity) * kTime * (kx * kx + ky * ky));
    }
    std::vector<float> out;
    for (const auto& value : transformed(next, true)) out.push_back(float(value.real()));
    return {out};
}

Contest navier_stokes() {
    auto step = compile(spectral_step, {f32("n", "m"), f32(), f32()});
    std::vector<float> vorticity;
    for (int i = 0; i < kSide; ++i)
        for (int j = 0; j < kSide; ++j) {
            const float y = 2 * float(M_PI) * float(i) / kSide,
                        x = 2 * float(M_PI) * float(j) / kSide;
            vorticity.push_back(std::sin(3 * x + 1) * std::cos(5 * y) + std::cos(7 * x - 2 * y) +
                                0.5f * std::sin(11 * y + 4 * x));
        }
    // Seven transforms of real numbers, each half of 5 n log2 n; beside them 60 of an element.
    const double operations = 7 * 2.5 * 16 * kCells + 60.0 * kCells;
    return {.least = {4.0 * kCells, 4.0 * kCells, operations},
            .arguments = {},
            .results = {kCells},
            .firn =
                [step, w = tensor(vorticity, {kSide, kSide})] {
                    return std::vector<Tensor>{step(w, kTime, kViscosity)};
                },
            .best = {},
            .plain = {},
            .tolerance = 1e-4,
            .expected = [vorticity] { return host_step(vorticity); }};
}

}  // namespace

void add_spectral(std::vector<Case>& cases) {
    cases.push_back({"navier_stokes", navier_stokes, Section::HeldOut});
}

}  // namespace firn::bench
