// Finds rectangles between other rectangles.
#include "engine/window/free_place.h"

#include <algorithm>
#include <tuple>

namespace firn {
namespace {

/// Returns the sides of covered rectangles, and of the window, along one axis, in order.
std::vector<float> sides(float from, float extent, const std::vector<Rectangle>& covered,
                         float Rectangle::*at, float Rectangle::*size) {
    std::vector<float> out{from, from + extent};
    for (const Rectangle& each : covered)
        for (const float side : {each.*at, each.*at + each.*size})
            if (side > from && side < from + extent) out.push_back(side);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

template <class Visit>
void visit_free(const Rectangle& window, const std::vector<Rectangle>& covered,
                const Visit& visit) {
    const std::vector<float> xs =
        sides(window.x, window.width, covered, &Rectangle::x, &Rectangle::width);
    const std::vector<float> ys =
        sides(window.y, window.height, covered, &Rectangle::y, &Rectangle::height);
    for (size_t left = 0; left < xs.size(); ++left)
        for (size_t right = left + 1; right < xs.size(); ++right)
            for (size_t top = 0; top < ys.size(); ++top)
                for (size_t bottom = top + 1; bottom < ys.size(); ++bottom) {
                    const Rectangle free{xs[left], ys[top], xs[right] - xs[left],
                                         ys[bottom] - ys[top]};
                    const bool taken =
                        std::any_of(covered.begin(), covered.end(),
                                    [&](const Rectangle& each) { return overlaps(each, free); });
                    if (!taken) visit(free);
                }
}

}  // namespace

bool overlaps(const Rectangle& a, const Rectangle& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
           b.y < a.y + a.height;
}

std::optional<Rectangle> free_place(const Rectangle& window, const std::vector<Rectangle>& covered,
                                    const PlaceNeed& need) {
    std::optional<Rectangle> best;
    const auto better = [](const Rectangle& a, const Rectangle& b) {
        return std::tuple(-(a.y + a.height), -a.width, a.x) <
               std::tuple(-(b.y + b.height), -b.width, b.x);
    };
    visit_free(window, covered, [&](const Rectangle& free) {
        if (free.width < need.least_width) return;
        Rectangle place{free.x, 0, std::min(free.width, need.most_width), 0};
        const float below = free.y + free.height;
        // Heights are expensive, so they are only computed for places that could be better.
        if (best && !better({place.x, below, place.width, 0},
                            {best->x, best->y + best->height, best->width, 0}))
            return;
        place.height = need.height(place.width);
        place.y = below - place.height;
        if (place.height <= free.height) best = place;
    });
    return best;
}

Rectangle largest_free(const Rectangle& window, const std::vector<Rectangle>& covered) {
    Rectangle best;
    visit_free(window, covered, [&](const Rectangle& free) {
        if (free.width * free.height > best.width * best.height) best = free;
    });
    return best;
}

}  // namespace firn
