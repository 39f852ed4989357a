// The known optimizers, by PyTorch's names and formulas.
#pragma once
#include "compiler/learning/optimizer.h"

namespace firn {

/// Options of SGD.
///
/// Here and in the options below, every number is a number of the optimizer by the same name.
struct SGDOptions {
    float lr = 1e-2f, momentum = 0.0f, weight_decay = 0.0f;
    bool nesterov = false;
};
/// Gradient descent: b = momentum b + g, p -= lr b; with Nesterov's momentum p -= lr (g + momentum
/// b). B. Polyak, 1964; I. Sutskever et al., "On the importance of initialization and momentum in
/// deep learning", 2013.
///
/// Example: after `Variable w({1}, constant_init(1), true);`
/// `SGD sgd({{"w", w}}, {.lr = 0.1f, .momentum = 0.9f});`
/// `for (int k = 0; k < 2; ++k) sgd.step(square(w.value()));` `w.value()` is `{0.46}`.
class SGD : public Optimizer {
  public:
    /// UserError: no parameters.
    explicit SGD(const std::vector<NamedVariable>& parameters, const SGDOptions& options = {},
                 SourceLine line = here());
};

/// Options of Adam.
struct AdamOptions {
    float lr = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f, weight_decay = 0.0f;
};
/// D. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization", 2015; decay is added to the
/// gradient. Gradients beyond 1.8e19 (1.3e154 of f64) count as that much, here and in AdamW and
/// RMSProp: their squares would be infinite, and steps 0 from then on. Infinity and nan make nan.
///
/// Example: after `Variable w({2}, constant_init(1), true); Adam adam({{"w", w}}, {.lr = 0.1f});`
/// `adam.step(sum(square(w.value()) * tensor({1.0f, 1000.0f})));` `w.value()` is `{0.9, 0.9}`.
class Adam : public Optimizer {
  public:
    /// UserError: no parameters.
    explicit Adam(const std::vector<NamedVariable>& parameters, const AdamOptions& options = {},
                  SourceLine line = here());
};

/// Options of AdamW.
struct AdamWOptions {
    float lr = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f, weight_decay = 1e-2f;
};
/// Adam with a weight decay apart from the gradient: p -= lr weight_decay p. I. Loshchilov and F.
/// Hutter, "Decoupled Weight Decay Regularization", 2019.
///
/// Example: after `Variable w({1}, constant_init(1), true);`
/// `AdamW adam({{"w", w}}, {.lr = 0.1f, .weight_decay = 0.5f}); adam.step(square(w.value()));`
/// `w.value()` is `{0.85}`.
class AdamW : public Optimizer {
  public:
    /// UserError: no parameters.
    explicit AdamW(const std::vector<NamedVariable>& parameters, const AdamWOptions& options = {},
                   SourceLine line = here());
};

/// Options of RMSProp.
struct RMSPropOptions {
    float lr = 1e-2f, alpha = 0.99f, eps = 1e-8f, momentum = 0.0f, weight_decay = 0.0f;
};
/// v = alpha v + (1 - alpha) g^2, b = momentum b + g / (sqrt(v) + eps), p -= lr b. T. Tieleman and
/// G. Hinton, "Lecture 6.5: rmsprop", 2012.
///
/// Example: after `Variable w({1}, constant_init(1), true); RMSProp rmsprop({{"w", w}});`
/// `rmsprop.step(square(w.value()));` `w.value()` is `{0.9}`.
class RMSProp : public Optimizer {
  public:
    /// UserError: no parameters.
    explicit RMSProp(const std::vector<NamedVariable>& parameters,
                     const RMSPropOptions& options = {}, SourceLine line = here());
};

/// Options of Lion.
struct LionOptions {
    float lr = 1e-4f, beta1 = 0.9f, beta2 = 0.99f, weight_decay = 0.0f;
};
/// p -= lr (sign(beta1 m + (1 - beta1) g) + weight_decay p), m = beta2 m + (1 - beta2) g. X. Chen
/// et al., "Symbolic Discovery of Optimization Algorithms", 2023.
///
/// Example: after `Variable w({2}, constant_init(1), true); Lion lion({{"w", w}}, {.lr = 0.1f});`
/// `lion.step(sum(w.value() * tensor({1.0f, -1000.0f})));` `w.value()` is `{0.9, 1.1}`.
class Lion : public Optimizer {
  public:
    /// UserError: no parameters.
    explicit Lion(const std::vector<NamedVariable>& parameters, const LionOptions& options = {},
                  SourceLine line = here());
};

}  // namespace firn
