// Noise over the plane and space: functions of a point, with one feature in every unit cell.
#pragma once
#include "compiler/frontend/vec.h"

namespace firn {

/// The options of noise.
struct NoiseOptions {
    Tensor seed = 0;  ///< an integer, also a tensor: another one gives other noise
};

/// Random numbers in [0, 1) at lattice points, and between them by 6t^5 - 15t^4 + 10t^3.
///
/// Here and below, lattice points are hashed by pcg3d and pcg4d of their coordinates and the seed,
/// so that the same point and seed give the same noise on every device, and nothing repeats before
/// 2^32 cells. All have gradients by the point; coordinates beyond 2^23 have no digits left for the
/// place in a cell.
///
/// Examples: `value_noise(vec2(0.0f, 0.0f))` is `0.60815`, `value_noise(vec2(1.0f, 0.0f))` is
/// `0.63279`, `value_noise(vec2(0.5f, 0.0f))` is `0.62047`.
/// @{
Tensor value_noise(const vec2& p, const NoiseOptions& options = {}, SourceLine line = here());
Tensor value_noise(const vec3& p, const NoiseOptions& options = {}, SourceLine line = here());
/// @}

/// Improved noise: 0 at lattice points, with random gradients there, from about -1 to 1. K. Perlin,
/// "Improving Noise", 2002: its fade and, in space, its 12 gradients; in the plane 8 of their
/// length. For hashes, seeds and large coordinates see value_noise.
///
/// Examples: `perlin_noise(vec3(1.0f, 2.0f, 3.0f))` is `0`,
/// `perlin_noise(vec2(tensor({0.0f, 1.0f, 2.0f}), -5.0f), {.seed = 7})` is `{0, 0, 0}`.
/// @{
Tensor perlin_noise(const vec2& p, const NoiseOptions& options = {}, SourceLine line = here());
Tensor perlin_noise(const vec3& p, const NoiseOptions& options = {}, SourceLine line = here());
/// @}

/// Simplex noise: sums over the corners of triangles or tetrahedra, from -1 to 1, with continuous
/// derivatives. S. Gustavson, "Simplex Noise Demystified", 2005; kernels of radius sqrt(0.5),
/// scaled so that the extremes are -1 and 1. For hashes, seeds and large coordinates see
/// value_noise.
///
/// Example: after `auto [i, j] = indices<2>(Shape{16, 16}); Tensor n = simplex_noise(vec2(j, i) *
/// 0.3f);` `n.size(1)` is `16` and `max(abs(n)) <= 1.0f` is `true`.
/// @{
Tensor simplex_noise(const vec2& p, const NoiseOptions& options = {}, SourceLine line = here());
Tensor simplex_noise(const vec3& p, const NoiseOptions& options = {}, SourceLine line = here());
/// @}

/// The distances that cells are drawn by.
struct Worley {
    Tensor first, second;  ///< distances to the nearest and the second nearest point
};
/// Cellular noise: one random point in every cell. S. Worley, "A Cellular Texture Basis Function",
/// 1996. Searches the cells around that of p: if all their points are more than 1 away, which is
/// rare, one behind them may be nearer. For hashes, seeds and large coordinates see value_noise.
///
/// Example: after `Worley w = worley_noise(vec2(0.5f, 0.5f));` `w.first` is `0.19296` and
/// `w.second` is `0.89946`.
/// @{
Worley worley_noise(const vec2& p, const NoiseOptions& options = {}, SourceLine line = here());
Worley worley_noise(const vec3& p, const NoiseOptions& options = {}, SourceLine line = here());
/// @}

}  // namespace firn
