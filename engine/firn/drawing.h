// Points, lines, arrows and triangles from tensors, drawn by a window where they lie in its
// device's memory.
#pragma once
#include <array>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/tensor.h"
#include "compiler/frontend/vec.h"
#include "engine/window/scene.h"

namespace firn {

/// Places or vectors: numbers of any type as [..., 2] or [..., 3], or a vector by its components.
struct DrawPlaces {
    /// Of a tensor with the components along the last axis, or of a vector.
    /// @{
    DrawPlaces(const Tensor& x) : tensor(x) {}
    DrawPlaces(const vec2& v) : tensor(stack(v)) {}
    DrawPlaces(const vec3& v) : tensor(stack(v)) {}
    /// One place, such as of a label.
    DrawPlaces(float x, float y);
    DrawPlaces(float x, float y, float z);
    /// @}

    Tensor tensor;
};

/// One colour for all shapes, or one for each, [n, 3] or [n, 4], or a vector by its components:
/// red, green, blue and alpha as they are shown, from 0 to 1.
///
///     {.colour = {1, 0.5f, 0}}    {.colour = viridis(speed)}
struct DrawColour {
    /// One colour for all.
    /// @{
    DrawColour(float red = 1, float green = 1, float blue = 1, float alpha = 1)
        : one{red, green, blue, alpha} {}
    DrawColour(const std::array<float, 3>& c) : one{c[0], c[1], c[2], 1} {}
    /// @}

    /// One colour for each, or a vector of tensors.
    /// @{
    DrawColour(const Tensor& x) : each(x) {}
    DrawColour(const vec3& v) : each(stack(v)) {}
    DrawColour(const vec4& v) : each(stack(v)) {}
    /// @}

    /// Param<Colour>, as it is now.
    template <class P>
    requires requires(const P& p) {
        { p.value() } -> std::same_as<std::array<float, 3>>;
    }
    DrawColour(const P& parameter) : DrawColour(parameter.value()) {}

    std::array<float, 4> one{1, 1, 1, 1};  ///< where `each` is not given
    std::optional<Tensor> each;
};

/// One number for all shapes, or one for each, [n].
struct DrawNumber {
    /// One number for all.
    DrawNumber(float value) : one(value) {}
    /// One number for each.
    DrawNumber(const Tensor& x) : each(x) {}
    float one = 0;  ///< where `each` is not given
    std::optional<Tensor> each;
};

/// One text, or one for each place, in UTF-8; '\n' begins another line.
struct DrawLabels {
    /// One text, or a list of them.
    /// @{
    DrawLabels(const char* one) : all{one} {}
    DrawLabels(const std::string& one) : all{one} {}
    DrawLabels(std::initializer_list<const char*> each) : all(each.begin(), each.end()) {}
    DrawLabels(std::vector<std::string> each) : all(std::move(each)) {}
    /// @}

    std::vector<std::string> all;
};

/// How points are drawn.
struct PointOptions {
    DrawColour colour;
    DrawNumber size = 3;  ///< diameter in pixels
    /// In units of the places: circles, or balls in space. Then `size` has no meaning.
    std::optional<DrawNumber> radius;
    bool lit = true;        ///< balls have a light and a dark side
    bool additive = false;  ///< adds light, as stars do; never hides anything
};
/// How lines and paths are drawn.
struct LineOptions {
    DrawColour colour;     ///< of lines also [n, 2, c], and of a path [n, c]: one for each end
    DrawNumber width = 2;  ///< pixels
    bool additive = false;
};
/// How arrows are drawn.
struct ArrowOptions {
    DrawColour colour;
    DrawNumber width = 2;  ///< of the shaft, in pixels
    float scale = 1;       ///< length by that of the vector
    bool additive = false;
};
/// How texts are drawn.
struct TextOptions {
    DrawColour colour;
    float size = 15;  // of a line, in pixels
    /// What of the text is at its place, from its left and top, 0, to its right and bottom, 1.
    std::array<float, 2> align{0.5f, 0.5f};
    std::array<float, 2> shift{0, 0};  // then so many pixels to the right and down
    bool on_top = true;                // in space: nothing hides it
    bool halo = true;                  // a dark rim around bright letters, or a bright one
};
/// How numbers are drawn.
struct NumberOptions {
    /// Behind the point, up to 6; below 0: as few of six digits as say the number.
    int decimals = -1;
    DrawColour colour;  // and the rest as of TextOptions
    float size = 15;
    std::array<float, 2> align{0.5f, 0.5f};
    std::array<float, 2> shift{0, 0};
    bool on_top = true;
    bool halo = true;
};
/// How triangles are drawn.
struct TriangleOptions {
    DrawColour colour;  ///< also [n, 3, c]: one for each corner
    bool lit = true;    ///< in space: one side is light and one is dark
    bool additive = false;
};

/// What one frame shows; later layers are over earlier ones, and in space nearer ones over farther
/// ones. Numbers that are not finite leave their shape out. Positions in two dimensions are x and
/// y: columns and rows of the picture, or units of `limits`.
///
///     Drawing d;
///     d.picture(u, colormap::viridis).arrows(places, flow, {.scale = 10});
///     window.show(d);
///
/// Nothing comes to the host. See engine/window/drawing.md.
///
/// Example: `Drawing d; d.points(zeros({4, 5, 2}), {.radius = 0.1f}).path(zeros({7, 2}));` has a
/// grid of discs, and a path over it.
class Drawing {
  public:
    /// Nothing yet.
    Drawing() = default;
    /// Of a picture alone: Drawing().picture(...).
    /// @{
    Drawing(const Tensor& x, const ShowOptions& options = {}) { picture(x, options); }
    Drawing(const Tensor& x, Colormap map, ValueRange range = kUnstatedRange) {
        picture(x, map, range);
    }
    Drawing(const Tensor& x, Colormap map, const MapOptions& options) { picture(x, map, options); }
    /// @}

    /// Beneath all shapes, as Window::show shows it, with the same contrast.
    /// @{
    Drawing& picture(const Tensor& x, const ShowOptions& options = {});
    Drawing& picture(const Tensor& x, Colormap map, ValueRange range = kUnstatedRange);
    Drawing& picture(const Tensor& x, Colormap map, const MapOptions& options);
    /// @}

    /// Over all shapes, as much as its alpha, [h, w, 4], and `opacity` say.
    Drawing& overlay(const Tensor& x, const ShowOptions& options = {});
    /// Beside the drawing: which values the colours of its shapes stand for, which `viridis(x)` and
    /// its like have made. A picture has one by ShowOptions::colour_bar.
    Drawing& colour_bar(Colormap map, ValueRange range, const std::string& label = "");
    /// A line of text below.
    Drawing& caption(const std::string& text);
    /// n discs at [n, 2], or discs and balls in space at [n, 3]. Grids [h, w, 2 or 3] are n = h * w
    /// points, with their colours and sizes.
    Drawing& points(const DrawPlaces& places, const PointOptions& options = {});
    /// n lines between the two ends in [n, 2, 2] or [n, 2, 3].
    Drawing& lines(const DrawPlaces& ends, const LineOptions& options = {});
    /// A line through n points, [n, 2] or [n, 3]; nan interrupts it.
    Drawing& path(const DrawPlaces& places, const LineOptions& options = {});
    /// n arrows that begin at `places` and are as long as `vectors`, both [n, 2] or [n, 3], or
    /// grids as of points.
    Drawing& arrows(const DrawPlaces& places, const DrawPlaces& vectors,
                    const ArrowOptions& options = {});
    /// n triangles with their corners in [n, 3, 2] or [n, 3, 3].
    Drawing& triangles(const DrawPlaces& corners, const TriangleOptions& options = {});
    /// A label at each of n places, [n, 2] or [n, 3]: `d.text(peaks, {"a", "b"})`,
    /// `d.text({x, y}, "peak")`. The host lays it out; the places stay on the device.
    Drawing& text(const DrawPlaces& places, const DrawLabels& labels,
                  const TextOptions& options = {});
    /// The numbers [n], or [h, w] at the places of a grid, formatted where they are: nothing is
    /// read back.
    Drawing& numbers(const DrawPlaces& places, const Tensor& values,
                     const NumberOptions& options = {});
    /// The part of the plane that is shown, with equal units both ways. Without: the picture's
    /// columns and rows, y down, or 0 to 1, y up.
    Drawing& limits(float left, float right, float bottom, float top);
    /// Axes with round numbers to the left and below, in the units of the places, and words for
    /// them: `d.axes({.x = "time, s", .y = "height, m"})`. They follow the zoom. A drawing in space
    /// has none, and one that is too small for them.
    Drawing& axes(const DrawAxes& words = {});
    /// Without a picture: y is down, as it is with one.
    Drawing& y_down(bool down = true);
    /// Of a drawing in space, at first: the person then moves it.
    Drawing& camera(const DrawCamera& camera);

  private:
    struct Layer {
        DrawLayer plain;
        Tensor places;
        std::optional<Tensor> vectors, colours, sizes, values;
    };
    Layer& add(DrawShape shape, const DrawPlaces& places, const DrawColour& colour,
               const DrawNumber& size, bool additive);
    static void list_out_grid(Layer& layer);
    friend std::vector<DrawScene> scenes_of(std::vector<Drawing> drawings, SourceLine line);

    std::optional<Tensor> picture_, overlay_;
    DrawScene plain_;
    std::vector<Layer> layers_;
};

/// @cond
/// Computes what is to be drawn, all in one program. Throws UserError for shapes that do not fit.
std::vector<DrawScene> scenes_of(std::vector<Drawing> drawings, SourceLine line = here());
/// @endcond

}  // namespace firn
