// Convolution layers.
#pragma once
#include "compiler/algorithms/conv.h"
#include "compiler/learning/module.h"

namespace firn {

/// The geometry of a ConvLayer on x, and its bias; see conv1d to conv3d.
template <size_t N>
struct ConvLayerOptions {
    PerAxis<N> stride = 1, padding = 0, dilation = 1;
    int groups = 1;
    bool bias = true;
    Initialiser init = nullptr;  ///< initialises the weight; none: uniform within 1 / sqrt(fan in)
};
/// x [batch, in, ..] to [batch, out, ..], with N axes of positions: weight [out, in / groups,
/// kernel ..], bias [out].
///
/// Example: after `Conv1d layer(1, 1, 3, {.padding = 1, .bias = false, .init = constant_init(1)});`
/// `layer(tensor({1.0f, 2.0f, 3.0f}, {1, 1, 3}))` is `{{{3, 6, 5}}}`.
template <size_t N>
class ConvLayer : public Module {
  public:
    Variable weight, bias;
    /// Makes a layer without parameters, to be assigned later.
    ConvLayer() = default;
    /// First values are uniform within 1 / sqrt(fan in), as torch's, unless `init` gives the
    /// weight's. UserError: a number of channels below 1, groups that do not divide both.
    ConvLayer(int64_t in, int64_t out, const PerAxis<N>& kernel,
              const ConvLayerOptions<N>& options = {}, SourceLine line = here());
    /// The convolution of x with the weight, plus the bias of each channel. conv1d to conv3d refuse
    /// shapes that do not fit.
    Tensor operator()(const Operand& x) const;

  private:
    ConvOptions<N> options_;
};
using Conv1d = ConvLayer<1>;
using Conv2d = ConvLayer<2>;
using Conv3d = ConvLayer<3>;

/// The geometry of a ConvTransposeLayer on its result, and its bias; see conv_transpose1d to
/// conv_transpose3d.
template <size_t N>
struct ConvTransposeLayerOptions {
    PerAxis<N> stride = 1, padding = 0, output_padding = 0, dilation = 1;
    int groups = 1;
    bool bias = true;
    Initialiser init = nullptr;  ///< initialises the weight; none: uniform within 1 / sqrt(fan in)
};
/// x [batch, in, ..] to [batch, out, ..], with N axes of positions: weight [in, out / groups,
/// kernel ..], bias [out].
///
/// Example: after
/// `ConvTranspose1d layer(1, 1, 2, {.stride = 2, .bias = false, .init = constant_init(1)});`
/// `layer(tensor({1.0f, 2.0f}, {1, 1, 2}))` is `{{{1, 1, 2, 2}}}`.
template <size_t N>
class ConvTransposeLayer : public Module {
  public:
    Variable weight, bias;
    /// Makes a layer without parameters, to be assigned later.
    ConvTransposeLayer() = default;
    /// First values are uniform within 1 / sqrt(fan in), as torch's, unless `init` gives the
    /// weight's. UserError: a number of channels below 1, groups that do not divide both.
    ConvTransposeLayer(int64_t in, int64_t out, const PerAxis<N>& kernel,
                       const ConvTransposeLayerOptions<N>& options = {}, SourceLine line = here());
    /// The transposed convolution of x with the weight, plus the bias of each channel.
    /// conv_transpose1d to conv_transpose3d refuse shapes that do not fit.
    Tensor operator()(const Operand& x) const;

  private:
    ConvTransposeOptions<N> options_;
};
using ConvTranspose1d = ConvTransposeLayer<1>;
using ConvTranspose2d = ConvTransposeLayer<2>;
using ConvTranspose3d = ConvTransposeLayer<3>;

}  // namespace firn
