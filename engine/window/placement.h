// Checks which scenes can be drawn, and finds their places in a frame.
#pragma once
#include <string>
#include <vector>

#include "engine/window/scene.h"

namespace firn {

/// Returns the largest rectangle of the proportion `width` : `height` inside `outer`, centred.
Rectangle letterbox(const Rectangle& outer, float width, float height);

/// Returns the shape as messages write it.
std::string shape_text(const std::vector<int64_t>& shape);

bool is_text(const DrawLayer& layer);
/// Returns the number of elements of a layer; the elements of a path are its segments.
int64_t shapes_of(const DrawLayer& layer);
/// Throws UserError if the layer cannot be drawn: its types, ranks or shapes do not fit.
void check_drawable(const DrawLayer& layer);
/// Throws UserError if the scene contains something that cannot be drawn.
void check_scene(const DrawScene& scene);
/// Throws UserError for limits without an extent, or that are not finite.
void check_limits(const DrawLimits& limits);

/// The part of a frame that is drawn to, and the coordinates of its sides: columns and rows of a
/// picture, units of a flat drawing, and pixels of the frame for a drawing in space.
struct DrawPlacement {
    Rectangle area;
    float left = 0, right = 1, top = 0, bottom = 1;
};
/// The person's zoom into something flat: the part of it in the middle, from 0 to 1.
struct FlatZoom {
    float scale = 1, x = 0.5f, y = 0.5f;
    static constexpr float kMost = 64;
    bool operator==(const FlatZoom&) const = default;
};
/// Zooms in by so many steps of the wheel, about a place of the area, from 0 to 1. Nothing beyond
/// the rim is shown.
void zoom_about(FlatZoom& zoom, float x, float y, float steps);
/// Moves what is shown by shares of the area.
void pan(FlatZoom& zoom, float right, float down);

/// Pixels around a picture for a colour bar, a caption, and axes on each side.
struct SceneRoom {
    float bar = 0, caption = 0;
    float left = 0, right = 0, above = 0, below = 0;
};
/// Returns the room that a scene takes. `scale`: pixels of a unit.
SceneRoom room_of(const DrawScene& scene, float scale);
/// Returns the room that both need: views of a grid have frames of one size, whichever of them has
/// a colour bar.
SceneRoom joined(const SceneRoom& a, const SceneRoom& b);

/// The division of a scene's cell of the window.
struct SceneLayout {
    Rectangle cell, frame;  // the frame is that of the picture and the shapes
    bool has_bar = false, has_caption = false, has_axes = false;
    float below = 0;  // of the frame: pixels that the axes take
};
/// Returns the layout of a scene. In a grid, `room` is that of all its scenes.
SceneLayout layout_of(const DrawScene& scene, const Rectangle& cell, float scale,
                      const SceneRoom& room);
SceneLayout layout_of(const DrawScene& scene, const Rectangle& cell, float scale);
/// Returns the bar itself, beside the picture; its ticks are to the right of it.
Rectangle colour_bar_of(const DrawScene& scene, const SceneLayout& layout, float scale);
/// Returns the places of `count` scenes, row by row, in whole pixels.
std::vector<Rectangle> cells_of(size_t count, const SceneGrid& grid, const Rectangle& all,
                                float scale);

DrawPlacement placement_of(const DrawScene& scene, const Rectangle& frame,
                           const FlatZoom& zoom = {});
/// Returns the place of a picture, or of an overlay, in the frame. It may lie in front of a drawing
/// in space, or beyond the rim of what is shown.
Rectangle picture_area(const DrawScene& scene, const BufferView& picture, const Rectangle& frame,
                       const FlatZoom& zoom = {});

}  // namespace firn
