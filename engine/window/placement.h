// Which scenes can be drawn, and where they are in a frame.
#pragma once
#include <string>
#include <vector>

#include "engine/window/scene.h"

namespace firn {

/// The largest rectangle of the proportion `width` : `height` inside `outer`, centred.
Rectangle letterbox(const Rectangle& outer, float width, float height);

/// As messages have it.
std::string shape_text(const std::vector<int64_t>& shape);

bool is_text(const DrawLayer& layer);
/// Elements of a layer: segments of a path.
int64_t shapes_of(const DrawLayer& layer);
/// Throws UserError where it cannot be drawn: types, ranks and shapes that do not fit.
void check_drawable(const DrawLayer& layer);
/// Throws UserError where it has what cannot be drawn.
void check_scene(const DrawScene& scene);
/// Throws UserError for limits without an extent, or that are not finite.
void check_limits(const DrawLimits& limits);

/// The part of a frame that is drawn to, and the coordinates of its sides: columns and rows of a
/// picture, units of a flat drawing, and pixels of the frame for a drawing in space.
struct DrawPlacement {
    Rectangle area;
    float left = 0, right = 1, top = 0, bottom = 1;
};
/// How far the person has gone into what is flat: the part of it, from 0 to 1, in the middle.
struct FlatZoom {
    float scale = 1, x = 0.5f, y = 0.5f;
    static constexpr float kMost = 64;
    bool operator==(const FlatZoom&) const = default;
};
/// Nearer by so many steps of the wheel, about a place of the area, from 0 to 1; nothing beyond the
/// rim is seen.
void zoom_about(FlatZoom& zoom, float x, float y, float steps);
/// What is seen follows a movement by so much of the area.
void pan(FlatZoom& zoom, float right, float down);

/// Pixels around a picture: of a colour bar, a caption, and axes on each side.
struct SceneRoom {
    float bar = 0, caption = 0;
    float left = 0, right = 0, above = 0, below = 0;
};
/// What a scene takes. `scale`: pixels of a unit.
SceneRoom room_of(const DrawScene& scene, float scale);
/// What either takes: views of a grid have frames of one size, whichever of them has a colour bar.
SceneRoom joined(const SceneRoom& a, const SceneRoom& b);

/// How a scene divides its cell of the window.
struct SceneLayout {
    Rectangle cell, frame;  // the frame is that of the picture and the shapes
    bool has_bar = false, has_caption = false, has_axes = false;
    float below = 0;  // of the frame: pixels that the axes take
};
/// In a grid, `room` is that of all its scenes.
SceneLayout layout_of(const DrawScene& scene, const Rectangle& cell, float scale,
                      const SceneRoom& room);
SceneLayout layout_of(const DrawScene& scene, const Rectangle& cell, float scale);
/// The bar itself, beside the picture; its ticks are to the right of it.
Rectangle colour_bar_of(const DrawScene& scene, const SceneLayout& layout, float scale);
/// Where `count` scenes lie, row by row, in whole pixels.
std::vector<Rectangle> cells_of(size_t count, const SceneGrid& grid, const Rectangle& all,
                                float scale);

DrawPlacement placement_of(const DrawScene& scene, const Rectangle& frame,
                           const FlatZoom& zoom = {});
/// Where its picture, or its overlay, lies in it: before a drawing in space, or beyond the rim of
/// what is seen of it.
Rectangle picture_area(const DrawScene& scene, const BufferView& picture, const Rectangle& frame,
                       const FlatZoom& zoom = {});

}  // namespace firn
