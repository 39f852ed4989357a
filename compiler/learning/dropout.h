// Leaving out elements at random.
#pragma once
#include "compiler/learning/module.h"

namespace firn {

/// In training, every element is 0 with probability p, and 1 / (1 - p) times itself otherwise;
/// afterwards x itself. Its buffer `random` holds the state of the random numbers: with it a saved
/// run continues unchanged. N. Srivastava et al., 2014.
///
/// Examples: after `Dropout layer(0.5f); Tensor y = layer(ones({100}));`
/// `all((y == 0.0f) | (y == 2.0f))` is `true`, and after `layer.eval();` `layer(ones({3}))` is
/// `{1, 1, 1}`.
class Dropout : public Module {
  public:
    Variable random;  ///< i32 [2]: a seed, and how often it was called
    /// UserError: p outside of [0, 1).
    explicit Dropout(float p = 0.5f, SourceLine line = here());
    /// x with elements left out; counts the call in `random`.
    Tensor operator()(const Operand& x) const;

  private:
    float p_;
};

}  // namespace firn
