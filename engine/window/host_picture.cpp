// Draws tensors on the host as view.vert and view.frag do.
#include "engine/window/host_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compiler/base/parallel.h"
#include "engine/window/colour_map.h"
#include "engine/window/view_binding.h"

namespace firn {
namespace {

using Colour = std::array<float, 4>;

/// Numbers that are shown in the place of infinities, as in view.frag.
constexpr float kMostShown = 3e38f;
/// The side of the largest square of elements that is averaged, as in view_renderer.cpp.
constexpr int kMostTaps = 4;
/// Rows that one thread draws at a time.
constexpr int kBandRows = 32;

/// The elements of a view as numbers.
struct Elements {
    int height = 0, width = 0, channels = 1;
    std::vector<float> values;

    /// Returns the element nearest to a place, one of the rim beyond that.
    Colour at(int y, int x) const {
        y = std::clamp(y, 0, height - 1), x = std::clamp(x, 0, width - 1);
        const float* first =
            &values[(static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) *
                    static_cast<size_t>(channels)];
        Colour colour{0, 0, 0, 1};
        for (int c = 0; c < channels; ++c)
            colour[static_cast<size_t>(c)] =
                std::isinf(first[c]) ? std::copysign(kMostShown, first[c]) : first[c];
        return colour;
    }
};

Elements elements_of(const BufferView& view, const std::vector<std::byte>& bytes) {
    Elements out{static_cast<int>(view.shape[0]),
                 static_cast<int>(view.shape[1]),
                 view.shape.size() == 3 ? static_cast<int>(view.shape[2]) : 1,
                 {}};
    const auto width = static_cast<size_t>(view.dtype.bytes());
    const float unit = shown_unit(view.dtype);
    out.values.resize(bytes.size() / width);
    for (size_t k = 0; k < out.values.size(); ++k)
        out.values[k] =
            static_cast<float>(load_scalar(view.dtype, &bytes[k * width]).as_double()) * unit;
    return out;
}

/// Returns the values of the first and the last colour, by the rules of shown_range.glsl.
ValueRange shown_range(const Elements& elements, const ShowOptions& options) {
    ValueRange range = range_of(options, elements.channels);
    if (range.low == range.high) {
        range = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
        for (const float x : elements.values) {
            if (!std::isfinite(x)) continue;
            range.low = std::min(range.low, x), range.high = std::max(range.high, x);
        }
        if (range.low > range.high) range = {0, 1};
        if (elements.channels == 1 && is_diverging(options.colormap.value_or(Colormap::Grey))) {
            range.high = std::max(std::abs(range.low), std::abs(range.high));
            range.low = -range.high;
        }
    }
    if (std::abs(range.high - range.low) > 8e37f) {
        range.low = std::clamp(range.low, -4e37f, 4e37f);
        range.high = std::clamp(range.high, -4e37f, 4e37f);
    }
    if (std::abs(range.high - range.low) < 1.2e-38f) {
        const float margin = std::max(0.5f, 0.5f * std::abs(range.low));
        range.low -= margin, range.high += margin;
    }
    return range;
}

Colour mixed(const Colour& from, const Colour& to, float share) {
    Colour out;
    for (size_t c = 0; c < out.size(); ++c) out[c] = from[c] * (1 - share) + to[c] * share;
    return out;
}

Colour bilinear(const Elements& from, float y, float x) {
    y -= 0.5f, x -= 0.5f;
    const float top = std::floor(y), left = std::floor(x);
    const int i = static_cast<int>(top), j = static_cast<int>(left);
    return mixed(mixed(from.at(i, j), from.at(i, j + 1), x - left),
                 mixed(from.at(i + 1, j), from.at(i + 1, j + 1), x - left), y - top);
}

/// The mean of `taps` x `taps` elements under a pixel, which is `shrink` elements wide.
Colour mean(const Elements& from, float y, float x, int taps, float shrink) {
    Colour sum{};
    const auto side = static_cast<float>(taps);
    const auto moved = [&](float at, int k) {
        return static_cast<int>(
            std::floor(at + ((static_cast<float>(k) + 0.5f) / side - 0.5f) * shrink));
    };
    for (int i = 0; i < taps; ++i)
        for (int j = 0; j < taps; ++j) {
            const Colour one = from.at(moved(y, i), moved(x, j));
            for (size_t c = 0; c < sum.size(); ++c) sum[c] += one[c];
        }
    for (float& c : sum) c /= side * side;
    return sum;
}

/// Returns the colour of a value, and how much it hides what is behind it.
Colour shown(Colour value, const ValueRange& range, int channels, const ShowOptions& options) {
    const float scale = 1 / (range.high - range.low),
                opacity = std::clamp(options.opacity, 0.0f, 1.0f);
    for (float& c : value) c = (c - range.low) * scale;
    const auto last = value.begin() + (channels == 1 ? 1 : 3);
    if (std::any_of(value.begin(), last, [](float c) { return std::isnan(c); }))
        return {0.9f, 0, 0.9f, opacity};
    if (channels == 1) {
        const std::array<float, 3> mapped =
            mapped_colour(options.colormap.value_or(Colormap::Grey), value[0]);
        return {mapped[0], mapped[1], mapped[2], opacity};
    }
    for (float& c : value) c = std::clamp(c, 0.0f, 1.0f);
    if (channels < 4) value[3] = 1;
    value[3] *= opacity;
    return value;
}

uint8_t byte_of(float x) {
    return static_cast<uint8_t>(std::lround(std::clamp(x, 0.0f, 1.0f) * 255));
}

/// Draws a tensor that fills `area`, of which `seen` is drawn.
void draw(Picture& picture, const Elements& elements, const ShowOptions& options,
          const Rectangle& area, const Rectangle& seen) {
    const ValueRange range = shown_range(elements, options);
    const float shrink = static_cast<float>(elements.width) / area.width;
    const int taps =
        std::clamp(static_cast<int>(std::ceil(shrink - 0.01f)), 1, static_cast<int>(kMostTaps));
    const bool blends = options.smooth && std::abs(shrink - 1) >= 1e-4f;
    const bool covers = elements.channels != 4 && options.opacity >= 1;
    const int left = std::max(0, static_cast<int>(seen.x)),
              top = std::max(0, static_cast<int>(seen.y));
    const int right = std::min({picture.width, left + static_cast<int>(seen.width),
                                static_cast<int>(std::ceil(area.x + area.width - 0.5f))}),
              bottom = std::min({picture.height, top + static_cast<int>(seen.height),
                                 static_cast<int>(std::ceil(area.y + area.height - 0.5f))});
    const int first = std::max(top, static_cast<int>(std::ceil(area.y - 0.5f))),
              from = std::max(left, static_cast<int>(std::ceil(area.x - 0.5f)));
    const auto draw_row = [&](int i) {
        const float y = (static_cast<float>(i) + 0.5f - area.y) / area.height *
                        static_cast<float>(elements.height);
        for (int j = from; j < right; ++j) {
            const float x = (static_cast<float>(j) + 0.5f - area.x) / area.width *
                            static_cast<float>(elements.width);
            const Colour value = taps > 1 ? mean(elements, y, x, taps, shrink)
                                 : blends ? bilinear(elements, y, x)
                                          : elements.at(static_cast<int>(std::floor(y)),
                                                        static_cast<int>(std::floor(x)));
            const Colour colour = shown(value, range, elements.channels, options);
            uint8_t* pixel =
                &picture.rgba[4 * (static_cast<size_t>(i) * static_cast<size_t>(picture.width) +
                                   static_cast<size_t>(j))];
            for (size_t c = 0; c < 3; ++c) {
                const float behind = static_cast<float>(pixel[c]) / 255;
                pixel[c] =
                    byte_of(covers ? colour[c] : colour[c] * colour[3] + behind * (1 - colour[3]));
            }
        }
    };
    const int rows = std::max(0, bottom - first);
    for_each_in_parallel(static_cast<size_t>((rows + kBandRows - 1) / kBandRows), [&](size_t band) {
        const int begin = first + static_cast<int>(band) * kBandRows;
        for (int i = begin; i < std::min(begin + kBandRows, bottom); ++i) draw_row(i);
    });
}

}  // namespace

std::string not_on_host(const Frame& frame) {
    if (frame.gui) return "panel";
    for (const SceneView& view : frame.views) {
        const DrawScene& scene = view.scene;
        if (!scene.layers.empty()) return "shapes";
        if (scene.colour_bar || scene.options.colour_bar || scene.overlay_options.colour_bar)
            return "colour bar";
        if (scene.axes) return "axes";
        if (!scene.caption.empty()) return "caption";
    }
    return "";
}

Picture host_picture(const Frame& frame, VkExtent2D extent,
                     const std::function<std::vector<std::byte>(const BufferView&)>& bytes_of) {
    Picture picture{static_cast<int>(extent.width), static_cast<int>(extent.height), {}};
    const size_t pixels = size_t{extent.width} * extent.height;
    picture.rgba.resize(4 * pixels);
    for (size_t k = 0; k < pixels; ++k) {
        for (size_t c = 0; c < 3; ++c)
            picture.rgba[4 * k + c] = byte_of(kFrameBackground.color.float32[c]);
        picture.rgba[4 * k + 3] = 255;
    }
    const std::vector<SceneLayout> layouts = layouts_of(frame, extent);
    for (size_t k = 0; k < layouts.size(); ++k) {
        const SceneView& seen = frame.views[k];
        const Rectangle& whole = layouts[k].frame;
        const Rectangle clip = placement_of(seen.scene, whole, seen.zoom).area;
        const auto show = [&](const BufferView& view, const ShowOptions& options) {
            if (!view.memory) return;
            draw(picture, elements_of(view, bytes_of(view)), options,
                 picture_area(seen.scene, view, whole, seen.zoom), clip);
        };
        show(seen.scene.picture, seen.scene.options);
        show(seen.scene.overlay, seen.scene.overlay_options);
    }
    return picture;
}

}  // namespace firn
