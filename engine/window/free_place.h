// Where in a window something fits that must not cover what else is there.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "engine/window/view.h"

namespace firn {

bool overlaps(const Rectangle& a, const Rectangle& b);

/// What needs a place: at least so wide, at most so wide, and so high at a width between.
struct PlaceNeed {
    float least_width = 0, most_width = 0;
    std::function<float(float width)> height;
};
/// As low as possible, then as wide, then to the left, within `window`, and on nothing that is
/// covered. None: it fits nowhere.
std::optional<Rectangle> free_place(const Rectangle& window, const std::vector<Rectangle>& covered,
                                    const PlaceNeed& need);
/// The largest rectangle without anything that is covered; empty where all is.
Rectangle largest_free(const Rectangle& window, const std::vector<Rectangle>& covered);

}  // namespace firn
