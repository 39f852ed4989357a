// The known optimizers, by PyTorch's names and formulas.
#pragma once
#include "compiler/learning/optimizer.h"

namespace firn {

// Every number of the options is a number of the optimizer by the same name.

struct SGDOptions {
    float lr = 1e-2f, momentum = 0.0f, weight_decay = 0.0f;
    bool nesterov = false;
};
/// Gradient descent: b = momentum b + g, p -= lr b; with Nesterov's momentum p -= lr (g + momentum
/// b). B. Polyak, 1964; I. Sutskever et al., "On the importance of initialization and momentum in
/// deep learning", 2013.
class SGD : public Optimizer {
  public:
    explicit SGD(const std::vector<NamedVariable>& parameters, const SGDOptions& options = {},
                 SourceLine line = here());
};

struct AdamOptions {
    float lr = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f, weight_decay = 0.0f;
};
/// D. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization", 2015; decay is added to the
/// gradient.
class Adam : public Optimizer {
  public:
    explicit Adam(const std::vector<NamedVariable>& parameters, const AdamOptions& options = {},
                  SourceLine line = here());
};

struct AdamWOptions {
    float lr = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f, weight_decay = 1e-2f;
};
/// Adam whose decay is apart from the gradient: p -= lr weight_decay p. I. Loshchilov and F.
/// Hutter, "Decoupled Weight Decay Regularization", 2019.
class AdamW : public Optimizer {
  public:
    explicit AdamW(const std::vector<NamedVariable>& parameters, const AdamWOptions& options = {},
                   SourceLine line = here());
};

struct RMSPropOptions {
    float lr = 1e-2f, alpha = 0.99f, eps = 1e-8f, momentum = 0.0f, weight_decay = 0.0f;
};
/// v = alpha v + (1 - alpha) g^2, b = momentum b + g / (sqrt(v) + eps), p -= lr b. T. Tieleman and
/// G. Hinton, "Lecture 6.5: rmsprop", 2012.
class RMSProp : public Optimizer {
  public:
    explicit RMSProp(const std::vector<NamedVariable>& parameters,
                     const RMSPropOptions& options = {}, SourceLine line = here());
};

struct LionOptions {
    float lr = 1e-4f, beta1 = 0.9f, beta2 = 0.99f, weight_decay = 0.0f;
};
/// p -= lr (sign(beta1 m + (1 - beta1) g) + weight_decay p), m = beta2 m + (1 - beta2) g. X. Chen
/// et al., "Symbolic Discovery of Optimization Algorithms", 2023.
class Lion : public Optimizer {
  public:
    explicit Lion(const std::vector<NamedVariable>& parameters, const LionOptions& options = {},
                  SourceLine line = here());
};

}  // namespace firn
