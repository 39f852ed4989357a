// Windows as reads at affine indices, reduced over the window's axes.
#include "compiler/learning/pooling.h"

#include <limits>

#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// x in all windows, [batch, channels, rows, columns, window rows, window columns]; `outside` where
/// there is no x.
Tensor windows(const char* what, const Operand& x, const PerAxis<2>& window,
               const Pool2dOptions& options, float outside) {
    const Shape in = x.tensor().shape();
    if (in.size() != 4 || !x.tensor().dtype().is_float())
        refuse(std::string(what) + ": x is " + x.tensor().dtype().name() + text(in) +
               "; it is of floats, [batch, channels, n] or [batch, channels, n, m]");
    Shape all{in[0], in[1]}, stride;
    for (size_t k = 0; k < 2; ++k) {
        const Size &size = window.values[k], &padding = options.padding.values[k];
        stride.push_back(options.stride.values[k].is(0) ? size : options.stride.values[k]);
        const Size room = in[k + 2] + Size(2) * padding - size;
        if (size.upper_bound() < 1 || stride[k].upper_bound() < 1 || padding.upper_bound() < 0 ||
            room.upper_bound() < 0 || (Size(2) * padding - size).lower_bound() > 0)
            refuse(std::string(what) + ": a window of " + size.text() + " with stride " +
                   stride[k].text() + " and padding " + padding.text() + " does not fit " +
                   in[k + 2].text());
        all.push_back(floor_div(room, stride[k]) + Size(1));
    }
    all.insert(all.end(), {window.values[0], window.values[1]});
    auto [b, c, i, j, k, l] = indices<6>(all);
    return fill(x, outside)(b, c, i * stride[0] - options.padding.values[0] + k,
                            j * stride[1] - options.padding.values[1] + l);
}

/// A function of pictures for what has one axis of positions.
template <class Pool>
Tensor along_one_axis(const Operand& x, int64_t window, const Pool1dOptions& options, Pool pool) {
    LineScope at(x.line());
    const Tensor picture = unsqueeze(x, -2);
    return squeeze(pool(picture, {1, window}, {{1, options.stride}, {0, options.padding}}), {-2});
}

}  // namespace

Tensor max_pool2d(const Operand& x, const PerAxis<2>& window, const Pool2dOptions& options) {
    LineScope at(x.line());
    const float least = -std::numeric_limits<float>::infinity();
    return max(windows("max_pool", x, window, options, least), {4, 5});
}
Tensor avg_pool2d(const Operand& x, const PerAxis<2>& window, const Pool2dOptions& options) {
    LineScope at(x.line());
    return mean(windows("avg_pool", x, window, options, 0), {4, 5});
}
Tensor max_pool1d(const Operand& x, int64_t window, const Pool1dOptions& options) {
    return along_one_axis(x, window, options,
                          [](const Tensor& y, const PerAxis<2>& w, const Pool2dOptions& o) {
                              return max_pool2d(y, w, o);
                          });
}
Tensor avg_pool1d(const Operand& x, int64_t window, const Pool1dOptions& options) {
    return along_one_axis(x, window, options,
                          [](const Tensor& y, const PerAxis<2>& w, const Pool2dOptions& o) {
                              return avg_pool2d(y, w, o);
                          });
}

}  // namespace firn
