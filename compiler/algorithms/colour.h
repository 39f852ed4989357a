// Colours: the transfer function of sRGB, and colour maps.
#pragma once
#include "compiler/frontend/vec.h"

namespace firn {

/// Converts sRGB components from 0 to 1 to linear light, and back. IEC 61966-2-1. Integers become
/// f32, without being scaled: divide those of pictures of 8 bits by 255 first.
///
/// Examples: `srgb_to_linear(Tensor(0.5f))` is `0.21404`, `linear_to_srgb(Tensor(0.21404f))` is
/// `0.5`, `srgb_to_linear(vec3(0.0f, 0.5f, 1.0f))` is `{0, 0.21404, 1}`.
/// @{
Tensor srgb_to_linear(const Operand& x);
Tensor linear_to_srgb(const Operand& x);
vec3 srgb_to_linear(const vec3& colour, SourceLine line = here());
vec3 linear_to_srgb(const vec3& colour, SourceLine line = here());
/// @}

/// The colours of t from 0 to 1 in a colour map, sRGB's numbers from 0 to 1, as `window.show` maps
/// them; t is clamped, nan to 0.
///
/// Matplotlib's by S. van der Walt and N. Smith (CC0) as polynomials of degree 6 by M. Zucker
/// (CC0), off by up to 0.03; turbo is A. Mikhailov's (Apache 2.0), as his polynomial of degree 5,
/// off by up to 0.05, and 0.13 at its dark ends.
///
/// Examples: `viridis(Tensor(0.0f))` is `{0.27773, 0.00541, 0.3341}`, `magma(Tensor(-1.0f))` is
/// `{0, 0, 0}`, `inferno(Tensor(NAN))` is `{0.00022, 0.00165, 0}`, `plasma(Tensor(0.0f))` is
/// `{0.05873, 0.02334, 0.54334}`, `turbo(Tensor(0.0f))` is `{0.13572, 0.0914, 0.10667}`.
/// @{
vec3 viridis(const Operand& t);
vec3 magma(const Operand& t);
vec3 inferno(const Operand& t);
vec3 plasma(const Operand& t);
vec3 turbo(const Operand& t);
/// @}

}  // namespace firn
