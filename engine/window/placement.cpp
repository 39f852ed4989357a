// Checks what can be drawn, and finds its place in a frame.
#include "engine/window/placement.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "compiler/base/error.h"

namespace firn {
namespace {

constexpr float kScaleStep = 0.15f;  // of the scale, for each step of the wheel
/// Sizes at scale 1: the gap between cells; the strip of a caption; the colour bar with its ticks,
/// the gap before it, and its margins above (for its label) and below.
constexpr float kGap = 6, kCaption = 24, kBarColumn = 96, kBarWidth = 14, kBarGap = 12;
constexpr float kBarLabel = 26, kBarMargin = 8;
/// The room for axes: numbers to the left and below, a line of words above and below, and half a
/// number beyond their ends.
constexpr float kAxisLeft = 58, kAxisBelow = 26, kAxisWords = 22, kAxisRim = 12;

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
                        " pixels cannot be read; give a size above 0");
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
            refuse(layer, "sizes are", layer.sizes, "none: their corners give the size");
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

void check_scene(const DrawScene& scene) {
    for (const auto& [picture, options] :
         {std::pair{&scene.picture, &scene.options}, {&scene.overlay, &scene.overlay_options}}) {
        if (!picture->memory) continue;
        check_showable(*picture);
        if (options->colour_bar && picture->shape.size() == 3 && picture->shape[2] != 1)
            throw UserError("show: a tensor " + std::string(picture->dtype.name()) +
                            shape_text(picture->shape) +
                            " has colours of its own, and no colour bar; show one channel");
        if (!std::isfinite(options->opacity))
            throw UserError("show: the opacity " + std::to_string(options->opacity) +
                            " is not from 0 (transparent) to 1; give one that is");
    }
    for (const DrawLayer& layer : scene.layers) check_drawable(layer);
    if (scene.limits) check_limits(*scene.limits);
    if (!scene.colour_bar) return;
    const float extent = scene.colour_bar->range.high - scene.colour_bar->range.low;
    if (!std::isfinite(extent) || extent == 0)
        throw UserError("draw: a colour bar from " + std::to_string(scene.colour_bar->range.low) +
                        " to " + std::to_string(scene.colour_bar->range.high) +
                        " has no values; give finite ends that differ");
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
    const BufferView& picture = scene.picture.memory ? scene.picture : scene.overlay;
    if (scene.limits || (!picture.memory && !scene.layers.empty())) {
        DrawLimits at = scene.limits.value_or(DrawLimits{});
        if (scene.y_down && at.bottom < at.top) std::swap(at.bottom, at.top);
        return {letterbox(frame, std::abs(at.right - at.left), std::abs(at.top - at.bottom)),
                at.left, at.right, at.top, at.bottom};
    }
    if (!picture.memory) return {frame};
    const auto columns = static_cast<float>(picture.shape[1]);
    const auto rows = static_cast<float>(picture.shape[0]);
    return {letterbox(frame, columns, rows), 0, columns, 0, rows};
}

void keep_inside(FlatZoom& zoom) {
    zoom.scale = std::clamp(zoom.scale, 1.0f, FlatZoom::kMost);
    const float half = 0.5f / zoom.scale;
    zoom.x = std::clamp(zoom.x, half, 1 - half);
    zoom.y = std::clamp(zoom.y, half, 1 - half);
}

}  // namespace

SceneRoom room_of(const DrawScene& scene, float scale) {
    const auto pixels = [&](float units) { return std::round(units * scale); };
    SceneRoom out;
    const bool of_picture = scene.picture.memory && scene.options.colour_bar;
    const bool of_overlay = scene.overlay.memory && scene.overlay_options.colour_bar;
    if (scene.colour_bar || of_picture || of_overlay) out.bar = pixels(kBarColumn);
    if (!scene.caption.empty()) out.caption = pixels(kCaption);
    if (!scene.axes || scene.is_in_space()) return out;
    out.left = pixels(kAxisLeft), out.right = pixels(kAxisRim);
    out.above = pixels(scene.axes->y.empty() ? kAxisRim : kAxisWords);
    out.below = pixels(kAxisBelow + (scene.axes->x.empty() ? 0 : kAxisWords));
    return out;
}

SceneRoom joined(const SceneRoom& a, const SceneRoom& b) {
    return {std::max(a.bar, b.bar),     std::max(a.caption, b.caption), std::max(a.left, b.left),
            std::max(a.right, b.right), std::max(a.above, b.above),     std::max(a.below, b.below)};
}

SceneLayout layout_of(const DrawScene& scene, const Rectangle& cell, float scale,
                      const SceneRoom& room) {
    SceneLayout out{cell, cell};
    const SceneRoom own = room_of(scene, scale);
    // In a cell that is too small for everything, the picture has all of it.
    if (cell.width > 2 * room.bar) {
        out.frame.width -= room.bar;
        out.has_bar = own.bar > 0;
    }
    if (cell.height > 2 * room.caption) {
        out.frame.height -= room.caption;
        out.has_caption = own.caption > 0;
    }
    if (out.frame.width <= 2 * (room.left + room.right) ||
        out.frame.height <= 2 * (room.above + room.below))
        return out;
    out.has_axes = own.left > 0;
    out.below = room.below;
    out.frame = {out.frame.x + room.left, out.frame.y + room.above,
                 out.frame.width - room.left - room.right,
                 out.frame.height - room.above - room.below};
    return out;
}

SceneLayout layout_of(const DrawScene& scene, const Rectangle& cell, float scale) {
    return layout_of(scene, cell, scale, room_of(scene, scale));
}

Rectangle colour_bar_of(const DrawScene& scene, const SceneLayout& layout, float scale) {
    const Rectangle beside = placement_of(scene, layout.frame).area;
    const float above = std::round(kBarLabel * scale), below = std::round(kBarMargin * scale);
    return {beside.x + beside.width + std::round(kBarGap * scale), beside.y + above,
            std::round(kBarWidth * scale), std::max(beside.height - above - below, 1.0f)};
}

std::vector<Rectangle> cells_of(size_t count, const SceneGrid& grid, const Rectangle& all,
                                float scale) {
    const auto root = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
    const size_t columns = std::clamp<size_t>(
        grid.columns > 0 ? static_cast<size_t>(grid.columns) : root, 1, std::max<size_t>(count, 1));
    const size_t rows = (count + columns - 1) / columns;
    const float gap = std::round(kGap * scale);
    const auto edge = [&](float extent, size_t k, size_t of) {
        return std::round((extent + gap) * static_cast<float>(k) / static_cast<float>(of));
    };
    std::vector<Rectangle> out;
    for (size_t k = 0; k < count; ++k) {
        const size_t row = k / columns, column = k % columns;
        const float x = edge(all.width, column, columns), y = edge(all.height, row, rows);
        out.push_back({all.x + x, all.y + y,
                       std::max(edge(all.width, column + 1, columns) - gap - x, 1.0f),
                       std::max(edge(all.height, row + 1, rows) - gap - y, 1.0f)});
    }
    return out;
}

void zoom_about(FlatZoom& zoom, float x, float y, float steps) {
    const float before = zoom.scale;
    zoom.scale = std::clamp(before * std::exp(kScaleStep * steps), 1.0f, FlatZoom::kMost);
    // The point under the mouse stays there.
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

Rectangle picture_area(const DrawScene& scene, const BufferView& picture, const Rectangle& frame,
                       const FlatZoom& zoom) {
    if (scene.is_in_space())
        return letterbox(frame, static_cast<float>(picture.shape[1]),
                         static_cast<float>(picture.shape[0]));
    const Rectangle seen = all_of(scene, frame).area;
    if (zoom == FlatZoom{}) return seen;
    const float width = seen.width * zoom.scale, height = seen.height * zoom.scale;
    return {seen.x + seen.width / 2 - zoom.x * width, seen.y + seen.height / 2 - zoom.y * height,
            width, height};
}

}  // namespace firn
