// Colour maps on the host, the same as in view.frag.
#include "engine/window/colour_map.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/colour_fits.h"

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

MapColour straight(const ColourLine& line, float t) {
    const float at = t * static_cast<float>(line.size() - 1);
    const size_t from = std::min(static_cast<size_t>(at), line.size() - 2);
    return blend(line[from], line[from + 1], at - static_cast<float>(from));
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
        case Colormap::Coolwarm: return straight(kCoolwarmLine, t);
        case Colormap::Icefire: return straight(kIcefireLine, t);
    }
    return {t, t, t};
}

bool is_diverging(Colormap map) { return map == Colormap::Coolwarm || map == Colormap::Icefire; }

}  // namespace firn
