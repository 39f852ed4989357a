// Drawings: points, lines, arrows and triangles, which a window draws straight from tensors in its
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
    /// Takes a tensor with the components along the last axis, or a vector.
    /// @{
    DrawPlaces(const Tensor& x) : tensor(x) {}
    DrawPlaces(const vec2& v) : tensor(stack(v)) {}
    DrawPlaces(const vec3& v) : tensor(stack(v)) {}
    /// A single place, such as a label's.
    DrawPlaces(float x, float y);
    DrawPlaces(float x, float y, float z);
    /// @}

    Tensor tensor;
};

/// A colour for all shapes, or one for each, [n, 3] or [n, 4], or a vector by its components: red,
/// green, blue and alpha as they are shown, from 0 to 1.
///
///     {.colour = {1, 0.5f, 0}}    {.colour = viridis(speed)}
struct DrawColour {
    /// The same colour for all.
    /// @{
    DrawColour(float red = 1, float green = 1, float blue = 1, float alpha = 1)
        : one{red, green, blue, alpha} {}
    DrawColour(const std::array<float, 3>& c) : one{c[0], c[1], c[2], 1} {}
    /// @}

    /// A colour for each, or a vector of tensors.
    /// @{
    DrawColour(const Tensor& x) : each(x) {}
    DrawColour(const vec3& v) : each(stack(v)) {}
    DrawColour(const vec4& v) : each(stack(v)) {}
    /// @}

    /// The present value of a Param<Colour>.
    template <class P>
    requires requires(const P& p) {
        { p.value() } -> std::same_as<std::array<float, 3>>;
    }
    DrawColour(const P& parameter) : DrawColour(parameter.value()) {}

    std::array<float, 4> one{1, 1, 1, 1};  ///< used if `each` is not given
    std::optional<Tensor> each;
};

/// A number for all shapes, or one for each, [n].
struct DrawNumber {
    /// The same number for all.
    DrawNumber(float value) : one(value) {}
    /// A number for each.
    DrawNumber(const Tensor& x) : each(x) {}
    float one = 0;  ///< used if `each` is not given
    std::optional<Tensor> each;
};

/// A text for all places, or one for each, in UTF-8; '\n' begins another line.
struct DrawLabels {
    /// A text, or a list of them.
    /// @{
    DrawLabels(const char* one) : all{one} {}
    DrawLabels(const std::string& one) : all{one} {}
    DrawLabels(std::initializer_list<const char*> each) : all(each.begin(), each.end()) {}
    DrawLabels(std::vector<std::string> each) : all(std::move(each)) {}
    /// @}

    std::vector<std::string> all;
};

/// Options of Drawing::points.
struct PointOptions {
    DrawColour colour;
    DrawNumber size = 3;  ///< diameter in pixels
    /// Radius in units of the places: points become circles, or balls in space, and `size` is
    /// ignored.
    std::optional<DrawNumber> radius;
    bool lit = true;        ///< shades balls, with a light and a dark side
    bool additive = false;  ///< adds its light to what is behind, as stars do
};
/// Options of Drawing::lines and Drawing::path.
struct LineOptions {
    DrawColour colour;     ///< also one for each end: [n, 2, c] for lines, [n, c] for a path
    DrawNumber width = 2;  ///< pixels
    bool additive = false;
};
/// Options of Drawing::arrows.
struct ArrowOptions {
    DrawColour colour;
    DrawNumber width = 2;  ///< of the shaft, in pixels
    float scale = 1;       ///< length of an arrow in lengths of its vector
    bool additive = false;
};
/// Options of Drawing::text.
struct TextOptions {
    DrawColour colour;
    float size = 15;  // height of a line, in pixels
    /// The point of the text that lies at its place: from 0, left and top, to 1, right and bottom.
    std::array<float, 2> align{0.5f, 0.5f};
    std::array<float, 2> shift{0, 0};  // moves the text by so many pixels to the right and down
    bool on_top = true;                // in space: no shape hides it
    bool halo = true;                  // a dark rim around bright letters, or a bright one
};
/// Options of Drawing::numbers.
struct NumberOptions {
    /// Digits behind the point, up to 6; below 0: as few as the number needs, of six digits in all.
    int decimals = -1;
    DrawColour colour;  // this and the following ones are as in TextOptions
    float size = 15;
    std::array<float, 2> align{0.5f, 0.5f};
    std::array<float, 2> shift{0, 0};
    bool on_top = true;
    bool halo = true;
};
/// Options of Drawing::triangles.
struct TriangleOptions {
    DrawColour colour;  ///< also [n, 3, c]: one for each corner
    bool lit = true;    ///< in space: shades them, with a light and a dark side
    bool additive = false;
};

/// The contents of one frame, as layers. Later layers cover earlier ones; in space, nearer shapes
/// cover farther ones. A shape with a number that is not finite is left out. Positions in two
/// dimensions are x and y: columns and rows of the picture, or units of `limits`.
///
///     Drawing d;
///     d.picture(u, colormap::viridis).arrows(places, flow, {.scale = 10});
///     window.show(d);
///
/// Drawing reads nothing back to the host. See engine/window/drawing.md.
///
/// Example: `Drawing d; d.points(zeros({4, 5, 2}), {.radius = 0.1f}).path(zeros({7, 2}));` has a
/// grid of discs, and a path over it.
class Drawing {
  public:
    /// Nothing yet.
    Drawing() = default;
    /// A drawing of a picture alone, as Drawing().picture(...) makes it.
    /// @{
    Drawing(const Tensor& x, const ShowOptions& options = {}) { picture(x, options); }
    Drawing(const Tensor& x, Colormap map, ValueRange range = kUnstatedRange) {
        picture(x, map, range);
    }
    Drawing(const Tensor& x, Colormap map, const MapOptions& options) { picture(x, map, options); }
    /// @}

    /// Shows a picture beneath all shapes, with the contrast of Window::show.
    /// @{
    Drawing& picture(const Tensor& x, const ShowOptions& options = {});
    Drawing& picture(const Tensor& x, Colormap map, ValueRange range = kUnstatedRange);
    Drawing& picture(const Tensor& x, Colormap map, const MapOptions& options);
    /// @}

    /// Lays a picture over all shapes, blended by its alpha, [h, w, 4], and `opacity`.
    Drawing& overlay(const Tensor& x, const ShowOptions& options = {});
    /// Adds a colour bar beside the drawing, for shapes whose colours come from `viridis(x)` and
    /// its like: it shows which value each colour stands for. A picture gets one by
    /// ShowOptions::colour_bar.
    Drawing& colour_bar(Colormap map, ValueRange range, const std::string& label = "");
    /// Adds a line of text below.
    Drawing& caption(const std::string& text);
    /// Draws n discs at [n, 2], or discs and balls in space at [n, 3]. Grids [h, w, 2 or 3] are n =
    /// h * w points, with their colours and sizes.
    Drawing& points(const DrawPlaces& places, const PointOptions& options = {});
    /// Draws n lines between the two ends in [n, 2, 2] or [n, 2, 3].
    Drawing& lines(const DrawPlaces& ends, const LineOptions& options = {});
    /// Draws a line through n points, [n, 2] or [n, 3]; nan interrupts it.
    Drawing& path(const DrawPlaces& places, const LineOptions& options = {});
    /// Draws n arrows that begin at `places` and are as long as `vectors`, both [n, 2] or [n, 3],
    /// or grids as for points.
    Drawing& arrows(const DrawPlaces& places, const DrawPlaces& vectors,
                    const ArrowOptions& options = {});
    /// Draws n triangles with their corners in [n, 3, 2] or [n, 3, 3].
    Drawing& triangles(const DrawPlaces& corners, const TriangleOptions& options = {});
    /// Writes a label at each of n places, [n, 2] or [n, 3]: `d.text(peaks, {"a", "b"})`,
    /// `d.text({x, y}, "peak")`. The host lays it out; the places stay on the device.
    Drawing& text(const DrawPlaces& places, const DrawLabels& labels,
                  const TextOptions& options = {});
    /// Writes the numbers [n], or [h, w] at the places of a grid. The device formats them; nothing
    /// is read back.
    Drawing& numbers(const DrawPlaces& places, const Tensor& values,
                     const NumberOptions& options = {});
    /// Sets the part of the plane that is shown, with equal units both ways. Default: the picture's
    /// columns and rows, y down, or without a picture 0 to 1, y up.
    Drawing& limits(float left, float right, float bottom, float top);
    /// Adds axes with round numbers to the left and below, in the units of the places, and titles:
    /// `d.axes({.x = "time, s", .y = "height, m"})`. They follow the zoom. A drawing in space has
    /// no axes, nor has one that is too small for them.
    Drawing& axes(const DrawAxes& words = {});
    /// Lets y point down in a drawing without a picture, as it does in one with a picture.
    Drawing& y_down(bool down = true);
    /// Sets the first camera of a drawing in space; the user then moves it.
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
/// Computes all tensors of the drawings in one program. Throws UserError for shapes that do not
/// fit.
std::vector<DrawScene> scenes_of(std::vector<Drawing> drawings, SourceLine line = here());
/// @endcond

}  // namespace firn
