// Colour maps on the host: what the panel paints in the colours that frames have.
#pragma once
#include <array>

#include "engine/window/view.h"

namespace firn {

/// Red, green and blue from 0 to 1 of a value whose range is 0 to 1; magenta for nan, as in frames.
std::array<float, 3> mapped_colour(Colormap map, float value);
/// What is said beside a value that is nan.
constexpr const char* kNanNote = ", which is shown in magenta";
/// Whether its middle stands for 0.
bool is_diverging(Colormap map);

}  // namespace firn
