// Pooling: the largest or the mean of windows.
#pragma once
#include "compiler/algorithms/conv.h"
#include "compiler/learning/module.h"

namespace firn {

struct Pool1dOptions {
    int64_t stride = 0;  // 0: the size of the window
    int64_t padding = 0;
};
struct Pool2dOptions {
    PerAxis<2> stride = 0;  // 0: the size of the window
    PerAxis<2> padding = 0;
};

// The result's sizes are (size + 2 padding - window) / stride + 1, rounded down. What the padding
// adds is never the largest, and counts as 0 in means, as in torch. A padding of more than half the
// window and windows larger than the padded x are UserErrors.

/// x [batch, channels, n].
Tensor max_pool1d(const Operand& x, int64_t window, const Pool1dOptions& options = {});
Tensor avg_pool1d(const Operand& x, int64_t window, const Pool1dOptions& options = {});
/// x [batch, channels, n, m].
Tensor max_pool2d(const Operand& x, const PerAxis<2>& window, const Pool2dOptions& options = {});
Tensor avg_pool2d(const Operand& x, const PerAxis<2>& window, const Pool2dOptions& options = {});

/// The same as modules.
class MaxPool2d : public Module {
  public:
    explicit MaxPool2d(const PerAxis<2>& window, const Pool2dOptions& options = {})
        : window_(window), options_(options) {}
    Tensor operator()(const Operand& x) const { return max_pool2d(x, window_, options_); }

  private:
    PerAxis<2> window_;
    Pool2dOptions options_;
};
class AvgPool2d : public Module {
  public:
    explicit AvgPool2d(const PerAxis<2>& window, const Pool2dOptions& options = {})
        : window_(window), options_(options) {}
    Tensor operator()(const Operand& x) const { return avg_pool2d(x, window_, options_); }

  private:
    PerAxis<2> window_;
    Pool2dOptions options_;
};
class MaxPool1d : public Module {
  public:
    explicit MaxPool1d(int64_t window, const Pool1dOptions& options = {})
        : window_(window), options_(options) {}
    Tensor operator()(const Operand& x) const { return max_pool1d(x, window_, options_); }

  private:
    int64_t window_;
    Pool1dOptions options_;
};
class AvgPool1d : public Module {
  public:
    explicit AvgPool1d(int64_t window, const Pool1dOptions& options = {})
        : window_(window), options_(options) {}
    Tensor operator()(const Operand& x) const { return avg_pool1d(x, window_, options_); }

  private:
    int64_t window_;
    Pool1dOptions options_;
};

}  // namespace firn
