// What can be drawn, and where in a frame.
#include "engine/window/placement.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/program/error.h"

namespace firn {
namespace {

constexpr float kZoomStep = 0.15f;  // of the scale, for each step of the wheel

struct ShapeWords {
    const char *name, *places;
    size_t rank;
    int64_t corners;  // sizes of the middle axis, where the rank is 3
};

const ShapeWords& words_of(DrawShape shape) {
    static constexpr ShapeWords kWords[] = {{"points", "[n, 2] or [n, 3]", 2, 1},
                                            {"lines", "[n, 2, 2] or [n, 2, 3], two ends", 3, 2},
                                            {"a path", "[n, 2] or [n, 3]", 2, 1},
                                            {"arrows", "[n, 2] or [n, 3]", 2, 1},
                                            {"triangles", "[n, 3, 2] or [n, 3, 3]", 3, 3},
                                            {"text", "[n, 2] or [n, 3]", 2, 1},
                                            {"numbers", "[n, 2] or [n, 3]", 2, 1}};
    return kWords[static_cast<size_t>(shape)];
}

[[noreturn]] void refuse(const DrawLayer& layer, const std::string& what, const BufferView& view,
                         const std::string& wanted) {
    throw UserError("draw " + std::string(words_of(layer.shape).name) + ": " + what + " a tensor " +
                    std::string(view.dtype.name()) + shape_text(view.shape) + "; give " + wanted);
}

void check_places(const DrawLayer& layer) {
    const ShapeWords& words = words_of(layer.shape);
    const BufferView& places = layer.places;
    const bool fits = places.shape.size() == words.rank &&
                      (words.rank == 2 || places.shape[1] == words.corners) &&
                      (places.shape.back() == 2 || places.shape.back() == 3);
    if (!fits) refuse(layer, "places are", places, words.places);
}

void check_colours(const DrawLayer& layer) {
    const BufferView& colours = layer.colours;
    const ShapeWords& words = words_of(layer.shape);
    const int64_t count = layer.places.shape[0];
    const std::vector<int64_t>& shape = colours.shape;
    const bool each = shape.size() == 2 && shape[0] == count;
    const bool corner =
        words.rank == 3 && shape.size() == 3 && shape[0] == count && shape[1] == words.corners;
    if ((each || corner) && (shape.back() == 3 || shape.back() == 4)) return;
    const std::string n = std::to_string(count), m = std::to_string(words.corners);
    refuse(layer, "colours are", colours,
           words.rank == 2
               ? "[" + n + ", 3] or [" + n + ", 4]"
               : "[" + n + ", c] or [" + n + ", " + m + ", c] with 3 or 4 numbers c each");
}

void check_text(const DrawLayer& layer) {
    const int64_t count = layer.places.shape[0];
    const auto labels = static_cast<int64_t>(layer.text.labels.size());
    if (layer.shape == DrawShape::Text && labels != count)
        throw UserError("draw text: " + std::to_string(labels) + " labels for " +
                        std::to_string(count) + " places; give one for each");
    if (layer.shape == DrawShape::Numbers && layer.values.shape != std::vector<int64_t>{count})
        refuse(layer, "values are", layer.values, "[" + std::to_string(count) + "]");
    if (!(layer.size > 0) || !std::isfinite(layer.size))
        throw UserError("draw text: a line of " + std::to_string(layer.size) +
                        " pixels is not to be read; give a size above 0");
    if (layer.text.decimals > 6)
        throw UserError("draw numbers: " + std::to_string(layer.text.decimals) +
                        " decimals are more than f32 has; give 6 at the most");
}

}  // namespace

bool is_text(const DrawLayer& layer) {
    return layer.shape == DrawShape::Text || layer.shape == DrawShape::Numbers;
}

bool DrawScene::is_in_space() const {
    return std::any_of(layers.begin(), layers.end(),
                       [](const DrawLayer& layer) { return layer.places.shape.back() == 3; });
}

int64_t shapes_of(const DrawLayer& layer) {
    const int64_t count = layer.places.shape[0];
    return layer.shape == DrawShape::Path ? std::max<int64_t>(count - 1, 0) : count;
}

void check_drawable(const DrawLayer& layer) {
    check_places(layer);
    const int64_t count = layer.places.shape[0];
    const bool arrows = layer.shape == DrawShape::Arrows;
    if (arrows && layer.vectors.shape != layer.places.shape)
        refuse(layer, "vectors are", layer.vectors, shape_text(layer.places.shape) + ", as places");
    if (is_text(layer)) check_text(layer);
    if (!layer.colours.shape.empty()) check_colours(layer);
    if (!layer.sizes.shape.empty()) {
        if (layer.shape == DrawShape::Triangles)
            refuse(layer, "sizes are", layer.sizes, "none: their corners say how large they are");
        if (is_text(layer)) refuse(layer, "sizes are", layer.sizes, "one number for all");
        if (layer.sizes.shape != std::vector<int64_t>{count})
            refuse(layer, "sizes are", layer.sizes, "[" + std::to_string(count) + "]");
    }
    for (const BufferView* view :
         {&layer.places, &layer.vectors, &layer.colours, &layer.sizes, &layer.values}) {
        if (view->shape.empty()) continue;
        if (view->dtype != f32) refuse(layer, "shaders read f32, and here is", *view, "x.as(f32)");
        ensure(count == 0 || view->memory != nullptr, "shapes without memory were drawn");
    }
}

void check_limits(const DrawLimits& limits) {
    const float width = limits.right - limits.left, height = limits.top - limits.bottom;
    if (std::isfinite(width) && std::isfinite(height) && width != 0 && height != 0) return;
    throw UserError("draw: limits from " + std::to_string(limits.left) + " to " +
                    std::to_string(limits.right) + " and from " + std::to_string(limits.bottom) +
                    " to " + std::to_string(limits.top) +
                    " have no extent; give finite numbers that differ");
}

namespace {

DrawPlacement all_of(const DrawScene& scene, const Rectangle& frame) {
    if (scene.is_in_space())
        return {frame, frame.x, frame.x + frame.width, frame.y, frame.y + frame.height};
    if (scene.limits || (!scene.picture.memory && !scene.layers.empty())) {
        const DrawLimits at = scene.limits.value_or(DrawLimits{});
        return {letterbox(frame, std::abs(at.right - at.left), std::abs(at.top - at.bottom)),
                at.left, at.right, at.top, at.bottom};
    }
    if (!scene.picture.memory) return {frame};
    const auto columns = static_cast<float>(scene.picture.shape[1]);
    const auto rows = static_cast<float>(scene.picture.shape[0]);
    return {letterbox(frame, columns, rows), 0, columns, 0, rows};
}

void keep_inside(FlatZoom& zoom) {
    zoom.scale = std::clamp(zoom.scale, 1.0f, FlatZoom::kMost);
    const float half = 0.5f / zoom.scale;
    zoom.x = std::clamp(zoom.x, half, 1 - half);
    zoom.y = std::clamp(zoom.y, half, 1 - half);
}

}  // namespace

void zoom_about(FlatZoom& zoom, float x, float y, float steps) {
    const float before = zoom.scale;
    zoom.scale = std::clamp(before * std::exp(kZoomStep * steps), 1.0f, FlatZoom::kMost);
    // What is at that place stays there.
    zoom.x += (x - 0.5f) * (1 / before - 1 / zoom.scale);
    zoom.y += (y - 0.5f) * (1 / before - 1 / zoom.scale);
    keep_inside(zoom);
}

void pan(FlatZoom& zoom, float right, float down) {
    zoom.x -= right / zoom.scale;
    zoom.y -= down / zoom.scale;
    keep_inside(zoom);
}

DrawPlacement placement_of(const DrawScene& scene, const Rectangle& frame, const FlatZoom& zoom) {
    DrawPlacement at = all_of(scene, frame);
    if (scene.is_in_space() || zoom == FlatZoom{}) return at;
    const float width = at.right - at.left, height = at.bottom - at.top;
    at.left += width * (zoom.x - 0.5f / zoom.scale);
    at.top += height * (zoom.y - 0.5f / zoom.scale);
    at.right = at.left + width / zoom.scale;
    at.bottom = at.top + height / zoom.scale;
    return at;
}

Rectangle picture_area(const DrawScene& scene, const Rectangle& frame, const FlatZoom& zoom) {
    if (scene.is_in_space())
        return letterbox(frame, static_cast<float>(scene.picture.shape[1]),
                         static_cast<float>(scene.picture.shape[0]));
    const Rectangle seen = all_of(scene, frame).area;
    if (zoom == FlatZoom{}) return seen;
    const float width = seen.width * zoom.scale, height = seen.height * zoom.scale;
    return {seen.x + seen.width / 2 - zoom.x * width, seen.y + seen.height / 2 - zoom.y * height,
            width, height};
}

}  // namespace firn
