// Averages of weights over steps.
#pragma once
#include <vector>

#include "compiler/learning/variable.h"

namespace firn {

/// A running mean of variables, often better than where the last step left them: B. Polyak and A.
/// Juditsky, 1992. A handle; copies are the same mean.
///
///     AveragedWeights mean(net.parameters(), 0.999f);
///     auto step = compile({net, optimizer, mean}, [&](Tensor x, Tensor y) {
///         Tensor loss = optimizer.step(mse_loss(net(x), y));
///         mean.update();
///         return loss;
///     }, ..);
///     mean.exchange();   // net has the means; again: its own
///
/// Example: after `Variable w({1}, constant_init(1), true); AveragedWeights mean({{"w", w}});`
/// `mean.update(); w.set(tensor({3.0f})); mean.update(); mean.exchange();` `w.value()` is `{2.8}`.
class AveragedWeights {
  public:
    /// Begins with the values that the variables have now, in memory of its own.
    AveragedWeights(const std::vector<NamedVariable>& variables, float decay = 0.999f,
                    SourceLine line = here());

    /// mean = decay mean + (1 - decay) value; in the n-th update, counted from 0, the decay is at
    /// most n / (n + 9), so that first values do not weigh for long. Computed at once unless
    /// something is recorded; in f64 where the variable is, else in f32.
    void update(SourceLine line = here()) const;
    /// The variables and the means change places.
    void exchange(SourceLine line = here()) const;
    /// The number "decay", which a slider may change.
    float& decay() const { return decay_.value(); }
    /// Begins again with the variables' values.
    void reset(SourceLine line = here()) const;
    /// The variables, their means (`averaged.layers.0.weight`), the count of updates
    /// (`averaged.steps`) and the number `averaged.decay`.
    operator State() const;

  private:
    std::vector<NamedVariable> variables_, means_;
    Variable steps_;
    Number decay_;
};

}  // namespace firn
