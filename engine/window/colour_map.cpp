// Colour maps on the host, as view.frag has them.
#include "engine/window/colour_map.h"

#include <algorithm>
#include <cmath>

#include "compiler/program/colour_fits.h"

namespace firn {
namespace {

using MapColour = std::array<float, 3>;

MapColour blend(const MapColour& from, const MapColour& to, float share) {
    MapColour out;
    for (size_t c = 0; c < 3; ++c) out[c] = from[c] + share * (to[c] - from[c]);
    return out;
}

MapColour polynomial(const ColourFit& fit, float t) {
    MapColour out{};
    for (size_t k = fit.size(); k-- > 0;)
        for (size_t c = 0; c < 3; ++c) out[c] = out[c] * t + fit[k][c];
    for (float& c : out) c = std::clamp(c, 0.0f, 1.0f);
    return out;
}

/// One side of a diverging map, from its middle outwards.
struct Side {
    MapColour half_way, end;
};
MapColour diverging(const MapColour& middle, const Side& below, const Side& above, float t) {
    const float from_middle = 2 * t - 1, far = std::abs(from_middle);
    const Side& side = from_middle < 0 ? below : above;
    return far < 0.5f ? blend(middle, side.half_way, 2 * far)
                      : blend(side.half_way, side.end, 2 * far - 1);
}

}  // namespace

std::array<float, 3> mapped_colour(Colormap map, float value) {
    if (std::isnan(value)) return {0.9f, 0, 0.9f};
    const float t = std::clamp(value, 0.0f, 1.0f);
    switch (map) {
        case Colormap::Grey: return {t, t, t};
        case Colormap::Viridis: return polynomial(kViridisFit, t);
        case Colormap::Magma: return polynomial(kMagmaFit, t);
        case Colormap::Inferno: return polynomial(kInfernoFit, t);
        case Colormap::Plasma: return polynomial(kPlasmaFit, t);
        case Colormap::Turbo: return polynomial(kTurboFit, t);
        case Colormap::Coolwarm:
            return diverging({0.95f, 0.95f, 0.95f},
                             {{0.43f, 0.68f, 0.90f}, {0.085f, 0.265f, 0.62f}},
                             {{0.96f, 0.55f, 0.40f}, {0.65f, 0.06f, 0.12f}}, t);
        case Colormap::Icefire:
            return diverging({0.07f, 0.07f, 0.09f}, {{0.10f, 0.36f, 0.72f}, {0.70f, 0.95f, 0.97f}},
                             {{0.76f, 0.22f, 0.20f}, {1.00f, 0.88f, 0.55f}}, t);
    }
    return {t, t, t};
}

bool is_diverging(Colormap map) { return map == Colormap::Coolwarm || map == Colormap::Icefire; }

}  // namespace firn
