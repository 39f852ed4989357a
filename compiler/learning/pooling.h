// Pooling: the largest or the mean of windows.
#pragma once
#include "compiler/algorithms/conv.h"
#include "compiler/learning/module.h"

namespace firn {

template <size_t N>
struct PoolOptions {
    PerAxis<N> stride = 0;  // 0: the size of the window
    PerAxis<N> padding = 0;
};
using Pool1dOptions = PoolOptions<1>;
using Pool2dOptions = PoolOptions<2>;
using Pool3dOptions = PoolOptions<3>;

// The result's sizes are (size + 2 padding - window) / stride + 1, rounded down. What the padding
// adds is never the largest, and counts as 0 in means, as in torch. A padding of more than half the
// window and windows larger than the padded x are UserErrors.

/// x [batch, channels, ..] with N axes of positions, 1 to 3.
template <size_t N>
Tensor max_pool(const Operand& x, const PerAxis<N>& window, const PoolOptions<N>& options = {});
template <size_t N>
Tensor avg_pool(const Operand& x, const PerAxis<N>& window, const PoolOptions<N>& options = {});

/// x [batch, channels, n].
inline Tensor max_pool1d(const Operand& x, const PerAxis<1>& window,
                         const Pool1dOptions& options = {}) {
    return max_pool<1>(x, window, options);
}
inline Tensor avg_pool1d(const Operand& x, const PerAxis<1>& window,
                         const Pool1dOptions& options = {}) {
    return avg_pool<1>(x, window, options);
}
/// x [batch, channels, n, m].
inline Tensor max_pool2d(const Operand& x, const PerAxis<2>& window,
                         const Pool2dOptions& options = {}) {
    return max_pool<2>(x, window, options);
}
inline Tensor avg_pool2d(const Operand& x, const PerAxis<2>& window,
                         const Pool2dOptions& options = {}) {
    return avg_pool<2>(x, window, options);
}
/// x [batch, channels, n, m, l].
inline Tensor max_pool3d(const Operand& x, const PerAxis<3>& window,
                         const Pool3dOptions& options = {}) {
    return max_pool<3>(x, window, options);
}
inline Tensor avg_pool3d(const Operand& x, const PerAxis<3>& window,
                         const Pool3dOptions& options = {}) {
    return avg_pool<3>(x, window, options);
}

/// The same as modules.
template <size_t N>
class MaxPool : public Module {
  public:
    explicit MaxPool(const PerAxis<N>& window, const PoolOptions<N>& options = {})
        : window_(window), options_(options) {}
    Tensor operator()(const Operand& x) const { return max_pool<N>(x, window_, options_); }

  private:
    PerAxis<N> window_;
    PoolOptions<N> options_;
};
template <size_t N>
class AvgPool : public Module {
  public:
    explicit AvgPool(const PerAxis<N>& window, const PoolOptions<N>& options = {})
        : window_(window), options_(options) {}
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
