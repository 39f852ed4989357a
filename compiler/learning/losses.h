// Losses: one number that says how far predictions are from targets.
#pragma once
#include <optional>

#include "compiler/frontend/tensor.h"

namespace firn {

/// The reduction of the losses of all elements: their mean, their sum, or none.
enum class Reduction : uint8_t { Mean, Sum, None };

/// Options of most losses.
struct LossOptions {
    Reduction reduction = Reduction::Mean;
};

/// Squares of the differences.
///
/// As for the other losses, predictions and targets have one shape, and both are floats: an integer
/// target where a float is needed, or another shape, is a UserError. f16 and bf16 are computed in
/// f32. Unless the options say otherwise the loss is the mean over all elements; of none that is
/// nan.
///
/// Examples: after `Tensor p = tensor({1.0f, 2.0f}), t = tensor({1.0f, 4.0f});` `mse_loss(p, t)` is
/// `2`, `mse_loss(p, t, {.reduction = Reduction::None})` is `{0, 4}`.
Tensor mse_loss(const Operand& prediction, const Tensor& target, const LossOptions& options = {});
/// Magnitudes of the differences.
///
/// Example: `l1_loss(tensor({1.0f, 2.0f}), tensor({1.0f, 4.0f}))` is `1`.
Tensor l1_loss(const Operand& prediction, const Tensor& target, const LossOptions& options = {});

/// Options of huber_loss.
struct HuberOptions {
    float delta = 1.0f;  ///< where the square ends
    Reduction reduction = Reduction::Mean;
};
/// d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2). P. Huber, 1964.
///
/// Example: `huber_loss(tensor({0.5f, 3.0f}), zeros({2}), {.reduction = Reduction::None})` is
/// `{0.125, 2.5}`.
Tensor huber_loss(const Operand& prediction, const Tensor& target,
                  const HuberOptions& options = {});

/// Options of cross_entropy.
struct CrossEntropyOptions {
    float label_smoothing = 0.0f;  ///< the share of every target that is spread over all classes
    Reduction reduction = Reduction::Mean;
    /// A label that is left out: its loss and gradient are 0 and the mean is over the others, nan
    /// where there are none. torch leaves out -100 where nothing else is said; here no label is.
    std::optional<int> ignore_index = std::nullopt;
    /// Another label outside of the classes is a UserError with its place. A program that checks
    /// waits for the device at every call and changes nothing in place; without it such a label
    /// makes the loss nan.
    bool check_labels = true;
};
/// -log of softmax(logits) at the label, without overflow. Logits [batch, classes, ..] with integer
/// labels [batch, ..], or with probabilities of the logits' shape. The mean is over the labels, as
/// in torch's cross_entropy.
///
/// Examples: `cross_entropy(zeros({1, 2}), tensor({1}))` is `0.693147`,
/// `cross_entropy(zeros({1, 2}), tensor({2}), {.check_labels = false})` is `nan`,
/// `cross_entropy(zeros({2, 2}), tensor({1, -100}), {.ignore_index = -100})` is `0.693147`.
Tensor cross_entropy(const Operand& logits, const Tensor& target,
                     const CrossEntropyOptions& options = {});
/// -(t log p + (1 - t) log(1 - p)) of p = sigmoid(logits), without overflow.
///
/// Example: `binary_cross_entropy_with_logits(tensor({0.0f, -1000.0f}), ones({2}))` is `500.34657`.
Tensor binary_cross_entropy_with_logits(const Operand& logits, const Tensor& target,
                                        const LossOptions& options = {});

/// Options of binary_cross_entropy.
struct BinaryCrossEntropyOptions {
    Reduction reduction = Reduction::Mean;
    /// A probability outside of [0, 1], and nan, is a UserError with its place, as in torch. A
    /// program that checks waits for the device at every call and changes nothing in place, and
    /// vmap refuses it; without it such a probability makes the loss nan.
    bool check_probabilities = true;
};
/// -(t log p + (1 - t) log(1 - p)) of probabilities p; logarithms are at least -100, as torch's.
/// Beyond that the loss is constant: of a p that is exactly wrong the gradient is 0.
///
/// Examples: `binary_cross_entropy(tensor({0.0f, 1.0f}), ones({2}))` is `50`,
/// `binary_cross_entropy(tensor({1.5f}), zeros({1}), {.check_probabilities = false})` is `nan`.
Tensor binary_cross_entropy(const Operand& probability, const Tensor& target,
                            const BinaryCrossEntropyOptions& options = {});
/// t (log t - l) of logarithms l of probabilities, and probabilities t; 0 where t is 0. The sum of
/// all divided by size 0: torch's `batchmean`, the divergence itself; nan where that size is 0.
///
/// Example: `kl_div(log(tensor({0.5f, 0.5f}, {1, 2})), tensor({1.0f, 0.0f}, {1, 2}))` is
/// `0.693147`.
Tensor kl_div(const Operand& log_probability, const Tensor& target);

}  // namespace firn
