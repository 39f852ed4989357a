// Checks which tensors can be shown, and finds their places in a window.
#include "engine/window/view.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/error.h"
#include "engine/window/placement.h"

namespace firn {

std::string shape_text(const std::vector<int64_t>& shape) {
    std::string text;
    for (int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
}

Rectangle letterbox(const Rectangle& outer, float width, float height) {
    const float scale = std::min(outer.width / width, outer.height / height);
    Rectangle inner;
    // The size is in whole pixels, so that a tensor of the window's size has one pixel for each
    // element.
    inner.width = std::max(1.0f, std::round(width * scale));
    inner.height = std::max(1.0f, std::round(height * scale));
    inner.x = outer.x + std::floor((outer.width - inner.width) / 2);
    inner.y = outer.y + std::floor((outer.height - inner.height) / 2);
    return inner;
}

namespace {

std::string described(const std::string& what, DType dtype, const std::vector<int64_t>& shape) {
    return what + ": a tensor " + dtype.name() + shape_text(shape);
}

}  // namespace

void check_picture(const std::string& what, DType dtype, const std::vector<int64_t>& shape) {
    const std::string tensor = described(what, dtype, shape);
    const size_t rank = shape.size();
    if (rank != 2 && rank != 3)
        throw UserError(
            tensor + " is no picture; show [height, width] or [height, width, 1, 3 or 4 channels]");
    if (rank == 3 && shape[2] != 1 && shape[2] != 3 && shape[2] != 4)
        throw UserError(tensor + " has " + std::to_string(shape[2]) +
                        " channels; show 1 (grey), 3 (RGB) or 4 (RGBA) of them");
    for (int64_t size : shape)
        if (size <= 0)
            throw UserError(tensor +
                            " has a size of zero, there is nothing to see; give it elements");
}

void check_showable(const BufferView& view) {
    check_picture("show", view.dtype, view.shape);
    if (view.dtype.bytes() == 8)
        throw UserError(described("show", view.dtype, view.shape) +
                        " has elements of 64 bits, which frames cannot read; show x.as(f32)");
    ensure(view.memory != nullptr, "a view without memory was shown");
}

float shown_unit(DType dtype) { return dtype == u8 ? 1.0f / 255 : dtype == u16 ? 1.0f / 65535 : 1; }

ShowOptions show_options(Colormap map, const MapOptions& options) {
    return {.colormap = map,
            .range = options.range.value_or(kUnstatedRange),
            .smooth = options.smooth,
            .opacity = options.opacity,
            .colour_bar = options.colour_bar,
            .label = options.label};
}

ValueRange range_of(const ShowOptions& options, int64_t channels) {
    const bool stated = !std::isnan(options.range.low) && !std::isnan(options.range.high);
    if (stated) return options.range;
    return options.colormap && channels == 1 ? ValueRange{} : ValueRange{0, 1};
}

}  // namespace firn
