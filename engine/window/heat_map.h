// Heat maps of the panel: small pictures of values, through Dear ImGui.
#pragma once
#include <string>
#include <utility>

#include "engine/window/gui.h"

namespace firn {

/// Returns the values of the first and the last colour, which differ.
ValueRange shown_range(const HeatMap& map);
/// Returns the element that a square is, or the first of those whose mean it is, and its value.
std::string square_text(const HeatMap& map, int row, int column);

/// Returns its width and height in the proportion of the tensor; a square may stand for several
/// elements along one side only. Neither side is smaller than `least`.
std::pair<float, float> heat_map_size(const HeatMap& map, float width, float most_height,
                                      float least);

/// Draws it as the next item of the panel: as wide as `width`, or as high as `most_height`, in
/// pixels.
void draw_heat_map(const std::string& id, const HeatMap& map, float width, float most_height);

}  // namespace firn
