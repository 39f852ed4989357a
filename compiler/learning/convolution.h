// Convolution layers.
#pragma once
#include "compiler/algorithms/conv.h"
#include "compiler/learning/module.h"

namespace firn {

// First values are uniform within 1 / sqrt(fan in), as torch's, unless `init` gives the weight's.
// What does not fit is refused by conv1d and its kin.

template <size_t N>
struct ConvLayerOptions {
    PerAxis<N> stride = 1, padding = 0, dilation = 1;
    int groups = 1;
    bool bias = true;
    Initialiser init = nullptr;
};
/// x [batch, in, ..] to [batch, out, ..], with N axes of positions: weight [out, in / groups,
/// kernel
/// ..], bias [out].
template <size_t N>
class ConvLayer : public Module {
  public:
    Variable weight, bias;
    ConvLayer() = default;
    ConvLayer(int64_t in, int64_t out, const PerAxis<N>& kernel,
              const ConvLayerOptions<N>& options = {}, SourceLine line = here());
    Tensor operator()(const Operand& x) const;

  private:
    ConvOptions<N> options_;
};
using Conv1d = ConvLayer<1>;
using Conv2d = ConvLayer<2>;
using Conv3d = ConvLayer<3>;

template <size_t N>
struct ConvTransposeLayerOptions {
    PerAxis<N> stride = 1, padding = 0, output_padding = 0, dilation = 1;
    int groups = 1;
    bool bias = true;
    Initialiser init = nullptr;
};
/// x [batch, in, ..] to [batch, out, ..], with N axes of positions: weight [in, out / groups,
/// kernel
/// ..], bias [out].
template <size_t N>
class ConvTransposeLayer : public Module {
  public:
    Variable weight, bias;
    ConvTransposeLayer() = default;
    ConvTransposeLayer(int64_t in, int64_t out, const PerAxis<N>& kernel,
                       const ConvTransposeLayerOptions<N>& options = {}, SourceLine line = here());
    Tensor operator()(const Operand& x) const;

  private:
    ConvTransposeOptions<N> options_;
};
using ConvTranspose1d = ConvTransposeLayer<1>;
using ConvTranspose2d = ConvTransposeLayer<2>;
using ConvTranspose3d = ConvTransposeLayer<3>;

}  // namespace firn
