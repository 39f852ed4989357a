// Along each axis a position comes to a few elements with weights; their products are summed.
#include "compiler/algorithms/grid_sample.h"

#include <vector>

#include "compiler/algorithms/real.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {
namespace {

/// An element along one axis, and its weight.
struct Tap {
    Tensor place, weight;
};

/// Positions along one axis of `size` elements, as numbers of elements.
Tensor in_elements(const Tensor& position, const Tensor& size, bool align_corners) {
    const Tensor known = select(is_nan(position), -1, position);
    return align_corners ? (known + 1) / 2 * (size - 1) : ((known + 1) * size - 1) / 2;
}

/// Clamps between 0 and `last`, with gradient 0 at the bounds.
Tensor kept_inside(const Tensor& at, const Tensor& last) {
    return select(at > 0, select(at < last, at, last), 0);
}

/// Mirrored at the elements at the edges, or half an element beside them.
Tensor mirrored(const Tensor& at, const Tensor& size, bool align_corners) {
    const float low = align_corners ? 0.0f : -0.5f;
    const Tensor span = align_corners ? size - 1 : size, from = at - low;
    const Tensor away = select(from < 0, -from, from), times = floor(away / span);
    const Tensor beyond = away - times * span;
    const Tensor even = times - 2 * floor(times / 2) == 0;
    const Tensor back = select(even, beyond + low, span - beyond + low);
    return select(span > 0, kept_inside(back, size - 1), 0);
}

/// Maps a position beyond the edges to the one that is read; with Zeros it does not change.
Tensor padded(const Tensor& at, const Tensor& size, const GridSampleOptions& options) {
    switch (options.padding) {
        case GridSamplePadding::Zeros: return at;
        case GridSamplePadding::Border: return kept_inside(at, size - 1);
        case GridSamplePadding::Reflection: return mirrored(at, size, options.align_corners);
    }
    refuse("grid_sample: there is no such padding");
}

/// Keys's convolution kernel with a = -3/4, at distances from 0 to 1 and from 1 to 2.
Tensor near_weight(const Tensor& d) { return (1.25f * d - 2.25f) * d * d + 1; }
Tensor far_weight(const Tensor& d) { return ((-0.75f * d + 3.75f) * d - 6) * d + 3; }

std::vector<Tap> taps_of(const Tensor& at, const Tensor& size, const GridSampleOptions& options) {
    if (options.mode == GridSampleMode::Nearest)
        return {{round(padded(at, size, options)), ones({}, at.dtype())}};
    if (options.mode == GridSampleMode::Bilinear) {
        const Tensor inside = padded(at, size, options), low = floor(inside);
        return {{low, low + 1 - inside}, {low + 1, inside - low}};
    }
    const Tensor low = floor(at), t = at - low;
    const Tensor weights[] = {far_weight(t + 1), near_weight(t), near_weight(1 - t),
                              far_weight(2 - t)};
    std::vector<Tap> out;
    for (int k = 0; k < 4; ++k) out.push_back({padded(low + (k - 1), size, options), weights[k]});
    return out;
}

void check_shapes(const Shape& x, const Shape& grid, GridSampleMode mode) {
    const size_t axes = x.size() - 2;
    const std::string given = "grid_sample: x is " + text(x) + " and the grid " + text(grid) + "; ";
    if ((x.size() != 4 && x.size() != 5) || grid.size() != x.size() ||
        !grid.back().is(static_cast<int64_t>(axes)))
        refuse(given +
               "x is [n, channels, h, w] and the grid [n, rows, columns, 2], or of volumes "
               "[n, channels, d, h, w] and [n, .., 3]");
    if (x[0].is_constant() && grid[0].is_constant() && !(x[0] == grid[0]))
        refuse(given + "both have one size n");
    if (mode == GridSampleMode::Bicubic && axes != 2)
        refuse(given + "Bicubic reads pictures alone, take Bilinear for volumes");
    for (size_t axis = 2; axis < x.size(); ++axis)
        if (x[axis].is(0)) refuse(given + "x has no elements to read");
}

}  // namespace

Tensor grid_sample(const Operand& x, const Operand& grid, const GridSampleOptions& options) {
    LineScope at_line(x.line());
    const Shape shape = x.tensor().shape(), of_grid = grid.tensor().shape();
    check_shapes(shape, of_grid, options.mode);
    if (!grid.tensor().dtype().is_float())
        refuse(std::string("grid_sample: the grid is ") + grid.tensor().dtype().name() +
               "; positions between -1 and 1 are floats");
    const DType own = real_type(x.tensor().dtype());
    const Tensor source = as_wide(x.tensor()), positions = as_wide(grid.tensor());
    const size_t axes = shape.size() - 2;
    // [n, 1, rows, columns] along the last axis first, as the grid has them.
    std::vector<std::vector<Tap>> taps;
    std::vector<Tensor> last;
    for (size_t k = 0; k < axes; ++k) {
        const Tensor size = Tensor(shape[shape.size() - 1 - k]).as(positions.dtype());
        const Tensor position =
            take(positions, Tensor(static_cast<int>(k)), {.axis = static_cast<int>(axes) + 1});
        taps.push_back(taps_of(unsqueeze(in_elements(position, size, options.align_corners), 1),
                               size, options));
        last.push_back(size - 1);
    }
    Shape ones_of_n(shape.size(), Size(1)), ones_of_channels = ones_of_n;
    ones_of_n[0] = shape[0], ones_of_channels[1] = shape[1];
    const Tensor sample = index(ones_of_n, 0), channel = index(ones_of_channels, 1);
    Tensor out = 0.0f;
    for (size_t k = 0, count = 1; k < count; ++k) {
        count = 1;
        std::vector<const Tap*> at;
        Tensor weight = 1.0f, inside = Tensor(true);
        for (size_t axis = 0; axis < axes; ++axis) {
            const Tap& tap = taps[axis][k / count % taps[axis].size()];
            count *= taps[axis].size();
            at.push_back(&tap);
            weight = weight * tap.weight;
            inside = inside & (tap.place >= 0) & (tap.place <= last[axis]);
        }
        const auto place = [&](size_t axis) { return at[axis]->place.as(i32); };
        const Tensor value = axes == 2 ? source(sample, channel, place(1), place(0))
                                       : source(sample, channel, place(2), place(1), place(0));
        out = out + select(inside, value * weight.as(source.dtype()), 0);
    }
    return out.as(own);
}

}  // namespace firn
