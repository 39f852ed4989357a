// Finds a place in a window for something that must cover nothing else.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "engine/window/view.h"

namespace firn {

bool overlaps(const Rectangle& a, const Rectangle& b);

/// The size of something that needs a place: its least and its greatest width, and its height for a
/// width between them.
struct PlaceNeed {
    float least_width = 0, most_width = 0;
    std::function<float(float width)> height;
};
/// Returns the lowest place, then the widest, then the leftmost, inside `window`, that covers
/// nothing; none if it fits nowhere.
std::optional<Rectangle> free_place(const Rectangle& window, const std::vector<Rectangle>& covered,
                                    const PlaceNeed& need);
/// Returns the largest rectangle without anything that is covered; empty if everything is.
Rectangle largest_free(const Rectangle& window, const std::vector<Rectangle>& covered);

}  // namespace firn
