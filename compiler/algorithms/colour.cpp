// Powers, and polynomials by component.
#include "compiler/algorithms/colour.h"

#include "compiler/algorithms/real.h"
#include "compiler/base/colour_fits.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

vec3 mapped(const Operand& t, const ColourFit& map) {
    LineScope at(t.line());
    const Tensor x = clamp(as_wide(t.tensor()), 0.0f, 1.0f);
    vec3 out;
    for (size_t channel = 0; channel < 3; ++channel) {
        Tensor sum = map[6][channel];
        for (size_t k = 6; k-- > 0;) sum = sum * x + map[k][channel];
        out[channel] = clamp(sum, 0.0f, 1.0f);
    }
    return out;
}

}  // namespace

Tensor srgb_to_linear(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own);
    const Tensor low = wide <= 0.04045;
    const Tensor curve = pow((select(low, 1, wide) + 0.055) / 1.055, 2.4);
    return select(low, wide / 12.92, curve).as(real_type(own.dtype()));
}

Tensor linear_to_srgb(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own);
    const Tensor low = wide <= 0.0031308;
    const Tensor curve = 1.055 * pow(select(low, 1, wide), 1 / 2.4) - 0.055;
    return select(low, wide * 12.92, curve).as(real_type(own.dtype()));
}

vec3 srgb_to_linear(const vec3& colour, SourceLine line) {
    LineScope at(line);
    return vec3(srgb_to_linear(colour.x), srgb_to_linear(colour.y), srgb_to_linear(colour.z));
}

vec3 linear_to_srgb(const vec3& colour, SourceLine line) {
    LineScope at(line);
    return vec3(linear_to_srgb(colour.x), linear_to_srgb(colour.y), linear_to_srgb(colour.z));
}

vec3 viridis(const Operand& t) { return mapped(t, kViridisFit); }
vec3 magma(const Operand& t) { return mapped(t, kMagmaFit); }
vec3 inferno(const Operand& t) { return mapped(t, kInfernoFit); }
vec3 plasma(const Operand& t) { return mapped(t, kPlasmaFit); }
vec3 turbo(const Operand& t) { return mapped(t, kTurboFit); }

}  // namespace firn
