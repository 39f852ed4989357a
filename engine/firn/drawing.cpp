// Drawings of tensors: joins their memory to the engine's scenes.
#include "engine/firn/drawing.h"

#include "compiler/base/error.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/realize.h"

namespace firn {
namespace {

/// Returns x as f32, which shaders read.
std::optional<Tensor> floats(const std::optional<Tensor>& x) {
    if (!x || x->dtype() == f32) return x;
    return x->as(f32);
}

/// A grid [h, w, ...] of what is [n, ...] as a list: n = h * w.
void list_out(Tensor& x) {
    Shape list{x.size(0) * x.size(1)};
    for (int axis = 2; axis < x.rank(); ++axis) list.push_back(x.size(axis));
    x = reshape(x, list);
}

/// A tensor without elements has no memory.
BufferView view_of(const std::optional<Tensor>& x, SourceLine line) {
    if (!x) return {};
    TensorMemory tensor = memory_of(*x, line);
    BufferView view{tensor.memory, 0, tensor.dtype, tensor.shape};
    for (int64_t size : view.shape)
        if (size == 0) view.memory = nullptr;
    return view;
}

template <class Options>
DrawText text_of(const Options& options) {
    DrawText text;
    text.align = options.align;
    text.shift = options.shift;
    text.on_top = options.on_top;
    text.halo = options.halo;
    return text;
}

}  // namespace

DrawPlaces::DrawPlaces(float x, float y) : tensor(firn::tensor({x, y}, {1, 2})) {}
DrawPlaces::DrawPlaces(float x, float y, float z) : tensor(firn::tensor({x, y, z}, {1, 3})) {}

Drawing& Drawing::picture(const Tensor& x, const ShowOptions& options) {
    picture_ = x;
    plain_.options = options;
    return *this;
}

Drawing& Drawing::picture(const Tensor& x, Colormap map, ValueRange range) {
    return picture(x, ShowOptions{.colormap = map, .range = range});
}

Drawing& Drawing::picture(const Tensor& x, Colormap map, const MapOptions& options) {
    return picture(x, show_options(map, options));
}

Drawing& Drawing::overlay(const Tensor& x, const ShowOptions& options) {
    overlay_ = x;
    plain_.overlay_options = options;
    return *this;
}

Drawing& Drawing::colour_bar(Colormap map, ValueRange range, const std::string& label) {
    plain_.colour_bar = ColourBar{map, range, label};
    return *this;
}

Drawing& Drawing::caption(const std::string& text) {
    plain_.caption = text;
    return *this;
}

Drawing::Layer& Drawing::add(DrawShape shape, const DrawPlaces& places, const DrawColour& colour,
                             const DrawNumber& size, bool additive) {
    DrawLayer plain;
    plain.shape = shape;
    plain.colour = colour.one;
    plain.size = size.one;
    plain.additive = additive;
    return layers_.emplace_back(
        Layer{plain, *floats(places.tensor), {}, floats(colour.each), floats(size.each), {}});
}

void Drawing::list_out_grid(Layer& layer) {
    if (layer.places.rank() != 3) return;
    list_out(layer.places);
    for (std::optional<Tensor>* x : {&layer.vectors, &layer.colours})
        if (*x && (*x)->rank() == 3) list_out(**x);
    for (std::optional<Tensor>* x : {&layer.sizes, &layer.values})
        if (*x && (*x)->rank() == 2) list_out(**x);
}

Drawing& Drawing::points(const DrawPlaces& places, const PointOptions& options) {
    Layer& layer = add(DrawShape::Points, places, options.colour,
                       options.radius.value_or(options.size), options.additive);
    layer.plain.in_units = options.radius.has_value();
    layer.plain.lit = layer.plain.in_units && options.lit && !options.additive;
    list_out_grid(layer);
    return *this;
}

Drawing& Drawing::lines(const DrawPlaces& ends, const LineOptions& options) {
    add(DrawShape::Lines, ends, options.colour, options.width, options.additive);
    return *this;
}

Drawing& Drawing::path(const DrawPlaces& places, const LineOptions& options) {
    add(DrawShape::Path, places, options.colour, options.width, options.additive);
    return *this;
}

Drawing& Drawing::arrows(const DrawPlaces& places, const DrawPlaces& vectors,
                         const ArrowOptions& options) {
    Layer& layer = add(DrawShape::Arrows, places, options.colour, options.width, options.additive);
    layer.vectors = *floats(vectors.tensor);
    layer.plain.stretch = options.scale;
    list_out_grid(layer);
    return *this;
}

Drawing& Drawing::triangles(const DrawPlaces& corners, const TriangleOptions& options) {
    Layer& layer =
        add(DrawShape::Triangles, corners, options.colour, DrawNumber(0), options.additive);
    layer.plain.lit = options.lit;
    return *this;
}

Drawing& Drawing::text(const DrawPlaces& places, const DrawLabels& labels,
                       const TextOptions& options) {
    Layer& layer = add(DrawShape::Text, places, options.colour, options.size, false);
    layer.plain.text = text_of(options);
    layer.plain.text.labels = labels.all;
    list_out_grid(layer);
    return *this;
}

Drawing& Drawing::numbers(const DrawPlaces& places, const Tensor& values,
                          const NumberOptions& options) {
    Layer& layer = add(DrawShape::Numbers, places, options.colour, options.size, false);
    layer.plain.text = text_of(options);
    layer.plain.text.decimals = options.decimals;
    layer.values = *floats(values);
    list_out_grid(layer);
    return *this;
}

Drawing& Drawing::limits(float left, float right, float bottom, float top) {
    plain_.limits = DrawLimits{left, right, bottom, top};
    return *this;
}

Drawing& Drawing::axes(const DrawAxes& words) {
    plain_.axes = words;
    return *this;
}

Drawing& Drawing::y_down(bool down) {
    plain_.y_down = down;
    return *this;
}

Drawing& Drawing::camera(const DrawCamera& camera) {
    plain_.camera = camera;
    return *this;
}

std::vector<DrawScene> scenes_of(std::vector<Drawing> drawings, SourceLine line) {
    std::vector<Tensor*> all;  // of copies, which refer to the memory they get
    const auto note = [&](std::optional<Tensor>& x) {
        if (x) all.push_back(&*x);
    };
    for (Drawing& drawing : drawings) {
        note(drawing.picture_);
        note(drawing.overlay_);
        for (Drawing::Layer& layer : drawing.layers_) {
            all.push_back(&layer.places);
            note(layer.vectors);
            note(layer.colours);
            note(layer.sizes);
            note(layer.values);
        }
    }
    realize(all, line);
    std::vector<DrawScene> scenes;
    for (const Drawing& drawing : drawings) {
        DrawScene& scene = scenes.emplace_back(drawing.plain_);
        scene.picture = view_of(drawing.picture_, line);
        scene.overlay = view_of(drawing.overlay_, line);
        for (const Drawing::Layer& layer : drawing.layers_) {
            DrawLayer& plain = scene.layers.emplace_back(layer.plain);
            plain.places = view_of(layer.places, line);
            plain.vectors = view_of(layer.vectors, line);
            plain.colours = view_of(layer.colours, line);
            plain.sizes = view_of(layer.sizes, line);
            plain.values = view_of(layer.values, line);
        }
    }
    return scenes;
}

}  // namespace firn
