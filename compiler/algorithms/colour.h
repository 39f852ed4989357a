// Colours: the transfer function of sRGB, and colour maps.
#pragma once
#include "compiler/frontend/vec.h"

namespace firn {

/// What sRGB's numbers in 0 .. 1 mean as light, and back, by component. IEC 61966-2-1. Integers
/// become f32.
Tensor srgb_to_linear(const Operand& x);
Tensor linear_to_srgb(const Operand& x);
vec3 srgb_to_linear(const vec3& colour, SourceLine line = here());
vec3 linear_to_srgb(const vec3& colour, SourceLine line = here());

// Colour maps: t in 0 .. 1, clamped (nan to 0), to sRGB's numbers in 0 .. 1, as `window.show` maps
// them. Matplotlib's by S. van der Walt and N. Smith (CC0) as polynomials of degree 6 by M. Zucker
// (CC0), off by up to 0.03; turbo is A. Mikhailov's (Apache 2.0), as his polynomial of degree 5,
// off by up to 0.05, and 0.13 at its dark ends.
vec3 viridis(const Operand& t);
vec3 magma(const Operand& t);
vec3 inferno(const Operand& t);
vec3 plasma(const Operand& t);
vec3 turbo(const Operand& t);

}  // namespace firn
