// Windows as reads at affine indices, reduced over the window's axes.
#include "compiler/learning/pooling.h"

#include <cmath>
#include <limits>

#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reader.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// x in all windows, [batch, channels, positions .., window ..]; `outside` where there is no x.
template <size_t N>
Tensor windows(const char* what, const Operand& x, const PerAxis<N>& window,
               const PoolOptions<N>& options, float outside) {
    const Shape in = x.tensor().shape();
    if (in.size() != 2 + N || !x.tensor().dtype().is_float())
        refuse(std::string(what) + ": x is " + x.tensor().dtype().name() + text(in) +
               "; it is of floats, [batch, channels] and " + std::to_string(N) + " more");
    Shape all{in[0], in[1]}, stride;
    for (size_t k = 0; k < N; ++k) {
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
    all.insert(all.end(), window.values.begin(), window.values.end());
    const auto at = indices<2 + 2 * N>(all);
    const auto place = [&](size_t k) {
        if (k >= N) return Reader::Index();
        return Reader::Index(at[2 + k] * stride[k] - options.padding.values[k] + at[2 + N + k]);
    };
    return fill(x, outside)(at[0], at[1], place(0), place(1), place(2));
}

template <size_t N>
std::vector<int> window_axes() {
    std::vector<int> out;
    for (size_t k = 0; k < N; ++k) out.push_back(static_cast<int>(2 + N + k));
    return out;
}

/// The largest of each window, nan where one is. Its gradient goes to the first that is it.
template <size_t N>
Tensor first_largest(const Tensor& all) {
    const std::vector<int> axes = window_axes<N>();
    const Tensor found =
        select(any(is_nan(all), {.axis = axes}), std::nanf(""), max(all, {.axis = axes}));
    return custom_gradient(
        [&](const std::vector<Tensor>&) { return found; }, {all},
        [axes](const std::vector<Tensor>& xs, const Tensor& y, const Tensor& g) {
            const Tensor& x = xs[0];
            Shape kept = y.shape();
            Tensor place = 0;
            for (int axis : axes) {
                kept.push_back(1);
                place = place * x.size(axis) + index(x, axis);
            }
            const Tensor is_it = (x == reshape(y, kept)) | is_nan(x);
            const Tensor first = min(select(is_it, place, std::numeric_limits<int>::max()),
                                     {.axis = axes, .keep_dims = true});
            return std::vector<Tensor>{select(place == first, reshape(g, kept), 0)};
        });
}

}  // namespace

template <size_t N>
Tensor max_pool(const Operand& x, const PerAxis<N>& window, const PoolOptions<N>& options) {
    LineScope at(x.line());
    const float least = -std::numeric_limits<float>::infinity();
    return first_largest<N>(windows("max_pool", x, window, options, least));
}
template <size_t N>
Tensor avg_pool(const Operand& x, const PerAxis<N>& window, const PoolOptions<N>& options) {
    LineScope at(x.line());
    return mean(windows("avg_pool", x, window, options, 0), {.axis = window_axes<N>()});
}

template Tensor max_pool<1>(const Operand&, const PerAxis<1>&, const PoolOptions<1>&);
template Tensor max_pool<2>(const Operand&, const PerAxis<2>&, const PoolOptions<2>&);
template Tensor max_pool<3>(const Operand&, const PerAxis<3>&, const PoolOptions<3>&);
template Tensor avg_pool<1>(const Operand&, const PerAxis<1>&, const PoolOptions<1>&);
template Tensor avg_pool<2>(const Operand&, const PerAxis<2>&, const PoolOptions<2>&);
template Tensor avg_pool<3>(const Operand&, const PerAxis<3>&, const PoolOptions<3>&);

}  // namespace firn
