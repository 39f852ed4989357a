// Pooling: the largest or the mean of windows.
#pragma once
#include "compiler/algorithms/conv.h"
#include "compiler/learning/module.h"

namespace firn {

/// The geometry of windows along the axes of positions.
template <size_t N>
struct PoolOptions {
    PerAxis<N> stride = 0;   ///< 0: the size of the window
    PerAxis<N> padding = 0;  ///< on both sides
};
using Pool1dOptions = PoolOptions<1>;
using Pool2dOptions = PoolOptions<2>;
using Pool3dOptions = PoolOptions<3>;

/// The largest or the mean of every window of x, floats [batch, channels, ..] with N axes of
/// positions, 1 to 3.
///
/// The result's sizes are (size + 2 padding - window) / stride + 1, rounded down. Elements of the
/// padding are never the largest, and count as 0 in means. The largest of a window with a nan is
/// nan, and the gradient of the largest goes to the first element that equals it. All of this is as
/// in torch. A padding of more than half the window and windows larger than the padded x are
/// UserErrors.
///
/// Examples: after `Tensor x = tensor({1.0f, 3.0f, 2.0f, 5.0f}, {1, 1, 4});` `max_pool<1>(x, 2)` is
/// `{{{3, 5}}}`, `avg_pool<1>(x, 2)` is `{{{2, 3.5}}}`.
/// @{
template <size_t N>
Tensor max_pool(const Operand& x, const PerAxis<N>& window, const PoolOptions<N>& options = {});
template <size_t N>
Tensor avg_pool(const Operand& x, const PerAxis<N>& window, const PoolOptions<N>& options = {});
/// @}

/// The largest or the mean of every window of x [batch, channels, n], as max_pool and avg_pool.
///
/// Examples: after `Tensor x = tensor({1.0f, 3.0f, 2.0f, 5.0f}, {1, 1, 4});`
/// `max_pool1d(x, 2, {.stride = 1})` is `{{{3, 3, 5}}}`, `avg_pool1d(x, 2, {.padding = 1})` is
/// `{{{0.5, 2.5, 2.5}}}`.
/// @{
inline Tensor max_pool1d(const Operand& x, const PerAxis<1>& window,
                         const Pool1dOptions& options = {}) {
    return max_pool<1>(x, window, options);
}
inline Tensor avg_pool1d(const Operand& x, const PerAxis<1>& window,
                         const Pool1dOptions& options = {}) {
    return avg_pool<1>(x, window, options);
}
/// @}

/// The largest or the mean of every window of x [batch, channels, n, m], as max_pool and avg_pool.
///
/// Examples: after `Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {1, 1, 2, 2});` `max_pool2d(x, 2)`
/// is `{{{{4}}}}`, `avg_pool2d(x, {1, 2})` is `{{{{1.5}, {3.5}}}}`.
/// @{
inline Tensor max_pool2d(const Operand& x, const PerAxis<2>& window,
                         const Pool2dOptions& options = {}) {
    return max_pool<2>(x, window, options);
}
inline Tensor avg_pool2d(const Operand& x, const PerAxis<2>& window,
                         const Pool2dOptions& options = {}) {
    return avg_pool<2>(x, window, options);
}
/// @}

/// The largest or the mean of every window of x [batch, channels, n, m, l], as max_pool and
/// avg_pool.
///
/// Examples: after `Tensor x = reshape(arange(8).as(f32), {1, 1, 2, 2, 2});` `max_pool3d(x, 2)` is
/// `{{{{{7}}}}}`, `avg_pool3d(x, 2)` is `{{{{{3.5}}}}}`.
/// @{
inline Tensor max_pool3d(const Operand& x, const PerAxis<3>& window,
                         const Pool3dOptions& options = {}) {
    return max_pool<3>(x, window, options);
}
inline Tensor avg_pool3d(const Operand& x, const PerAxis<3>& window,
                         const Pool3dOptions& options = {}) {
    return avg_pool<3>(x, window, options);
}
/// @}

/// max_pool as a module, without parameters.
///
/// Example: `MaxPool2d(2)(ones({1, 3, 4, 6})).shape()` is `[1, 3, 2, 3]`.
template <size_t N>
class MaxPool : public Module {
  public:
    /// Keeps the window and the options; a call refuses those that do not fit.
    explicit MaxPool(const PerAxis<N>& window, const PoolOptions<N>& options = {})
        : window_(window), options_(options) {}
    /// The largest of every window.
    Tensor operator()(const Operand& x) const { return max_pool<N>(x, window_, options_); }

  private:
    PerAxis<N> window_;
    PoolOptions<N> options_;
};
/// avg_pool as a module, without parameters.
///
/// Example: `AvgPool2d(2)(ones({1, 3, 4, 6})).shape()` is `[1, 3, 2, 3]`.
template <size_t N>
class AvgPool : public Module {
  public:
    /// Keeps the window and the options; a call refuses those that do not fit.
    explicit AvgPool(const PerAxis<N>& window, const PoolOptions<N>& options = {})
        : window_(window), options_(options) {}
    /// The mean of every window.
    Tensor operator()(const Operand& x) const { return avg_pool<N>(x, window_, options_); }

  private:
    PerAxis<N> window_;
    PoolOptions<N> options_;
};
using MaxPool1d = MaxPool<1>;
using MaxPool2d = MaxPool<2>;
using MaxPool3d = MaxPool<3>;
using AvgPool1d = AvgPool<1>;
using AvgPool2d = AvgPool<2>;
using AvgPool3d = AvgPool<3>;

}  // namespace firn
