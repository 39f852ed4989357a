// Losses: one number that says how far predictions are from targets.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

enum class Reduction : uint8_t { Mean, Sum, None };

struct LossOptions {
    Reduction reduction = Reduction::Mean;
};

// Predictions and targets have one shape, and both are floats: an integer target where a float is
// needed, or another shape, is a UserError. f16 and bf16 are computed in f32. Unless the options
// say otherwise the mean over all elements.

/// Squares of the differences.
Tensor mse_loss(const Operand& prediction, const Tensor& target, const LossOptions& options = {});
/// Magnitudes of the differences.
Tensor l1_loss(const Operand& prediction, const Tensor& target, const LossOptions& options = {});

struct HuberOptions {
    float delta = 1.0f;
    Reduction reduction = Reduction::Mean;
};
/// d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2). P. Huber, 1964.
Tensor huber_loss(const Operand& prediction, const Tensor& target,
                  const HuberOptions& options = {});

struct CrossEntropyOptions {
    float label_smoothing = 0.0f;
    Reduction reduction = Reduction::Mean;
    /// A label outside of the classes is a UserError with its place. A program that checks waits
    /// for the device at every call and changes nothing in place; without it such a label makes the
    /// loss nan.
    bool check_labels = true;
};
/// -log of softmax(logits) at the label, without overflow. Logits [batch, classes, ..] with integer
/// labels [batch, ..], or with probabilities of the logits' shape. The mean is over the labels. As
/// torch's cross_entropy.
Tensor cross_entropy(const Operand& logits, const Tensor& target,
                     const CrossEntropyOptions& options = {});
/// -(t log p + (1 - t) log(1 - p)) of p = sigmoid(logits), without overflow.
Tensor binary_cross_entropy_with_logits(const Operand& logits, const Tensor& target,
                                        const LossOptions& options = {});
/// The same of probabilities; logarithms are at least -100, as torch's.
Tensor binary_cross_entropy(const Operand& probability, const Tensor& target,
                            const LossOptions& options = {});
/// t (log t - l) of logarithms l of probabilities, and probabilities t; 0 where t is 0. The sum of
/// all divided by size 0: torch's `batchmean`, the divergence itself.
Tensor kl_div(const Operand& log_probability, const Tensor& target);

}  // namespace firn
