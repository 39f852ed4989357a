// Colour maps on the host: the panel paints in the same colours as frames.
#pragma once
#include <array>

#include "engine/window/view.h"

namespace firn {

/// Returns red, green and blue from 0 to 1 of a value in a range from 0 to 1; magenta for nan, as
/// in frames.
std::array<float, 3> mapped_colour(Colormap map, float value);
/// The text that follows a value that is nan.
constexpr const char* kNanNote = ", which is shown in magenta";
/// True if the middle of the map stands for 0.
bool is_diverging(Colormap map);

}  // namespace firn
