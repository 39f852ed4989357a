// Layers that bring what goes through them to mean 0 and spread 1.
#pragma once
#include "compiler/learning/module.h"

namespace firn {

// All compute in f32 where x is f16 or bf16, and give x's type.

struct BatchNormOptions {
    float eps = 1e-5f, momentum = 0.1f;
    bool affine = true;
};
/// By the mean and variance of every channel (axis 1) over the batch and all other axes while it is
/// trained, and by their running means else, which every call in training changes: running = (1 -
/// momentum) running + momentum of the batch, its variance unbiased. weight, bias, running_mean and
/// running_var [channels]; torch's num_batches_tracked is not kept: load with {.allow_extra =
/// true}. S. Ioffe and C. Szegedy, 2015.
class BatchNorm : public Module {
  public:
    Variable weight, bias, running_mean, running_var;
    BatchNorm() = default;
    explicit BatchNorm(int64_t channels, const BatchNormOptions& options = {},
                       SourceLine line = here());
    Tensor operator()(const Operand& x) const;

  private:
    BatchNormOptions options_;
};

struct NormLayerOptions {
    float eps = 1e-5f;
    bool affine = true;
};
/// By the mean and variance of the last axes, of sizes `shape`: weight and bias have it. J. Ba et
/// al., "Layer Normalization", 2016.
class LayerNorm : public Module {
  public:
    Variable weight, bias;
    LayerNorm() = default;
    explicit LayerNorm(const Shape& shape, const NormLayerOptions& options = {},
                       SourceLine line = here());
    Tensor operator()(const Operand& x) const;

  private:
    Shape shape_;
    NormLayerOptions options_;
};

/// By the mean and variance of `groups` parts of the channels (axis 1), of each sample: weight and
/// bias [channels]. Y. Wu and K. He, "Group Normalization", 2018.
class GroupNorm : public Module {
  public:
    Variable weight, bias;
    GroupNorm() = default;
    GroupNorm(int64_t groups, int64_t channels, const NormLayerOptions& options = {},
              SourceLine line = here());
    Tensor operator()(const Operand& x) const;

  private:
    int64_t groups_ = 1, channels_ = 0;
    NormLayerOptions options_;
};

/// x / sqrt(mean of the squares along the last axis + eps) times weight [size]. B. Zhang and R.
/// Sennrich, "Root Mean Square Layer Normalization", 2019.
class RMSNorm : public Module {
  public:
    Variable weight;
    RMSNorm() = default;
    explicit RMSNorm(int64_t size, const NormLayerOptions& options = {}, SourceLine line = here());
    Tensor operator()(const Operand& x) const;

  private:
    NormLayerOptions options_;
};

}  // namespace firn
