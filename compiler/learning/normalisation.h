// Layers that normalise their input to mean 0 and variance 1.
#pragma once
#include "compiler/learning/module.h"

namespace firn {

/// Options of BatchNorm.
struct BatchNormOptions {
    /// The number that is added to the variance, and the share of the newest batch in the running
    /// means.
    float eps = 1e-5f, momentum = 0.1f;
    bool affine = true;  ///< whether it has weight and bias
};
/// Normalises by the mean and variance of every channel (axis 1) over the batch and all other axes
/// in training, and by their running means otherwise. Every call in training updates these: running
/// = (1 - momentum) running + momentum of the batch, its variance unbiased. As in torch an empty
/// batch leaves them as they are, and a batch in training with one value per channel is a
/// UserError, at the call where a size is a symbol. weight, bias, running_mean and running_var
/// [channels]; torch's num_batches_tracked is not kept: load with {.allow_extra = true}. S. Ioffe
/// and C. Szegedy, 2015.
///
/// This and the other layers here compute in f32 if x is f16 or bf16, and return x's type.
///
/// Examples: after `BatchNorm layer(1);` `layer(tensor({1.0f, 3.0f}, {2, 1}))` is `{{-1}, {1}}`,
/// `layer.running_mean.value()` is `{0.2}`, `layer.running_var.value()` is `{1.1}`.
class BatchNorm : public Module {
  public:
    Variable weight, bias, running_mean, running_var;
    /// Makes a layer without parameters, to be assigned later.
    BatchNorm() = default;
    /// UserError: a number of channels below 1.
    explicit BatchNorm(int64_t channels, const BatchNormOptions& options = {},
                       SourceLine line = here());
    /// x [batch, channels, ..] normalised, times weight, plus bias.
    Tensor operator()(const Operand& x) const;

  private:
    BatchNormOptions options_;
};

/// Options of the other normalising layers.
struct NormLayerOptions {
    float eps = 1e-5f;   ///< added to the variance
    bool affine = true;  ///< whether it has weight and bias; RMSNorm always has its weight
};
/// Normalises by the mean and variance of the last axes, of sizes `shape`, which is also the shape
/// of weight and bias. J. Ba et al., "Layer Normalization", 2016.
///
/// Example: `LayerNorm({2})(tensor({1.0f, 3.0f, 5.0f, 5.0f}, {2, 2}))` is `{{-1, 1}, {0, 0}}`.
class LayerNorm : public Module {
  public:
    Variable weight, bias;
    /// Makes a layer without parameters, to be assigned later.
    LayerNorm() = default;
    /// Over as many axes as `shape` has. UserError: a shape of no axes.
    explicit LayerNorm(const Shape& shape, const NormLayerOptions& options = {},
                       SourceLine line = here());
    /// x [.., shape ..] normalised, times weight, plus bias.
    Tensor operator()(const Operand& x) const;

  private:
    Shape shape_;
    NormLayerOptions options_;
};

/// Normalises by the mean and variance of `groups` parts of the channels (axis 1) of each sample:
/// weight and bias [channels]. Y. Wu and K. He, "Group Normalization", 2018.
///
/// Example: `GroupNorm(2, 4)(tensor({1.0f, 3.0f, 5.0f, 9.0f}, {1, 4}))` is `{{-1, 1, -1, 1}}`.
class GroupNorm : public Module {
  public:
    Variable weight, bias;
    /// Makes a layer without parameters, to be assigned later.
    GroupNorm() = default;
    /// UserError: a number below 1, or groups that do not divide the channels.
    GroupNorm(int64_t groups, int64_t channels, const NormLayerOptions& options = {},
              SourceLine line = here());
    /// x [batch, channels, ..] normalised, times weight, plus bias.
    Tensor operator()(const Operand& x) const;

  private:
    int64_t groups_ = 1, channels_ = 0;
    NormLayerOptions options_;
};

/// x / sqrt(mean of the squares along the last axis + eps) times weight [size]. B. Zhang and R.
/// Sennrich, "Root Mean Square Layer Normalization", 2019.
///
/// Example: `RMSNorm(2)(tensor({3.0f, 4.0f}))` is `{0.848528, 1.131371}`.
class RMSNorm : public Module {
  public:
    Variable weight;
    /// Makes a layer without parameters, to be assigned later.
    RMSNorm() = default;
    /// UserError: a size below 1.
    explicit RMSNorm(int64_t size, const NormLayerOptions& options = {}, SourceLine line = here());
    /// x [.., size] normalised, times weight.
    Tensor operator()(const Operand& x) const;

  private:
    NormLayerOptions options_;
};

}  // namespace firn
