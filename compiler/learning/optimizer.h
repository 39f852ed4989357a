// What all optimizers share: parameters, state, numbers, and one step.
#pragma once
#include <string>
#include <vector>

#include "compiler/learning/variable.h"

namespace firn {

/// What a rule sees of one parameter, and changes.
struct Update {
    Tensor parameter;
    Tensor gradient;             // of the parameter's shape, in f32
    std::vector<Tensor> state;   // as UpdateRule::state
    std::vector<Tensor> powers;  // as UpdateRule::powers, [1]; of this step
    Callback<Tensor(const char* name)> number;
};

/// How an optimizer changes a parameter.
struct UpdateRule {
    /// Tensors of the parameter's shape that it keeps; they start at 0.
    std::vector<std::string> state;
    /// Numbers whose products over all steps it asks for: of a running mean by beta, 1 less that is
    /// the sum of the weights, even where beta was turned on the way.
    std::vector<std::string> powers;
    Callback<void(Update& update)> update;
};

struct StepOptions {
    /// A parameter that the loss does not depend on stays as it is; else it is a UserError that
    /// names all of them.
    bool allow_unused = false;
};

struct OptimizerState;

/// A handle of parameters and of what their updates need; copies are the same optimizer. Inside
/// `compile({net, optimizer}, ..)` a step is part of the program; elsewhere it is computed at once.
class Optimizer {
  public:
    /// By a rule of one's own; optimizers.h has the known ones.
    Optimizer(const std::vector<NamedVariable>& parameters, const UpdateRule& rule,
              const std::vector<Number>& numbers, SourceLine line = here());

    /// A number by its name, "lr": what a slider turns, for as long as the optimizer is there.
    /// UserError that lists all of them where there is none.
    float& operator[](const std::string& name) const;

    /// Changes the parameters down the gradient of `loss`, one element, and gives the loss,
    /// computed unless something is recorded. UserError where the loss does not depend on a
    /// parameter.
    Tensor step(const Tensor& loss, const StepOptions& options = {},
                SourceLine line = here()) const;
    /// The same by gradients that are known: one per parameter, of its shape.
    void step(const std::vector<Tensor>& gradients, SourceLine line = here()) const;
    /// Begins again: what it keeps has its first values. Parameters and numbers stay.
    void reset(SourceLine line = here()) const;
    /// Steps that changed something. Waits for the device.
    int64_t steps() const;

    // What steps do besides; to be asked for before the first step is recorded.
    /// Gradients are scaled so that all of them together have at most this norm: number
    /// "clip_norm". R. Pascanu et al., 2013.
    void clip_norm(float norm) const;
    /// Every element of a gradient is kept within -value and value: number "clip_value".
    void clip_value(float value) const;
    /// Only every `count`-th step changes parameters, by the mean gradient of so many.
    void accumulate(int count) const;
    /// The loss is scaled before its gradients are taken, so that those do not underflow in f16: by
    /// 2^16 at first, doubled after `interval` good steps, and halved where a gradient is not
    /// finite; that step is left out. P. Micikevicius et al., "Mixed Precision Training", 2018.
    void scale_loss(int interval = 2000) const;

    const std::vector<NamedVariable>& parameters() const;
    /// Parameters, its own variables (`optimizer.exp_avg.layers.0.weight`) and its numbers.
    operator State() const;

  private:
    SharedPtr<OptimizerState> state_;
};

/// The length of all gradients as one vector, rank 0, f32.
Tensor global_norm(const std::vector<Tensor>& gradients);

}  // namespace firn
