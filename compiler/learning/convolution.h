// Convolution layers.
#pragma once
#include "compiler/algorithms/conv.h"
#include "compiler/learning/module.h"

namespace firn {

// First values are uniform within 1 / sqrt(fan in), as torch's, unless `init` gives the weight's.
// What does not fit is refused by conv1d, conv2d and conv_transpose2d.

struct Conv1dLayerOptions {
    PerAxis<1> stride = 1, padding = 0, dilation = 1;
    int groups = 1;
    bool bias = true;
    Initialiser init = nullptr;
};
/// x [batch, in, n] to [batch, out, ..]: weight [out, in / groups, kernel], bias [out].
class Conv1d : public Module {
  public:
    Variable weight, bias;
    Conv1d() = default;
    Conv1d(int64_t in, int64_t out, int64_t kernel, const Conv1dLayerOptions& options = {},
           SourceLine line = here());
    Tensor operator()(const Operand& x) const;

  private:
    Conv1dOptions options_;
};

struct Conv2dLayerOptions {
    PerAxis<2> stride = 1, padding = 0, dilation = 1;
    int groups = 1;
    bool bias = true;
    Initialiser init = nullptr;
};
/// x [batch, in, n, m] to [batch, out, ..]: weight [out, in / groups, kernel, kernel], bias [out].
class Conv2d : public Module {
  public:
    Variable weight, bias;
    Conv2d() = default;
    Conv2d(int64_t in, int64_t out, const PerAxis<2>& kernel,
           const Conv2dLayerOptions& options = {}, SourceLine line = here());
    Tensor operator()(const Operand& x) const;

  private:
    Conv2dOptions options_;
};

struct ConvTranspose2dLayerOptions {
    PerAxis<2> stride = 1, padding = 0, output_padding = 0, dilation = 1;
    int groups = 1;
    bool bias = true;
    Initialiser init = nullptr;
};
/// x [batch, in, n, m] to [batch, out, ..]: weight [in, out / groups, kernel, kernel], bias [out].
class ConvTranspose2d : public Module {
  public:
    Variable weight, bias;
    ConvTranspose2d() = default;
    ConvTranspose2d(int64_t in, int64_t out, const PerAxis<2>& kernel,
                    const ConvTranspose2dLayerOptions& options = {}, SourceLine line = here());
    Tensor operator()(const Operand& x) const;

  private:
    ConvTranspose2dOptions options_;
};

}  // namespace firn
