// The base of all optimizers: parameters, state, numbers, and one step.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "compiler/learning/variable.h"

namespace firn {

/// The inputs of a rule for one parameter, which it may change.
struct Update {
    Tensor parameter;            ///< f16 and bf16 as f32; the rule assigns to it
    Tensor gradient;             ///< of the parameter's shape; f16 and bf16 as f32
    std::vector<Tensor> state;   ///< as UpdateRule::state; the rule assigns to them
    std::vector<Tensor> powers;  ///< as UpdateRule::powers, rank 0; of this step
    /// A number of the optimizer by its name, rank 0.
    Callback<Tensor(const char* name)> number;
};

/// The rule by which an optimizer changes a parameter.
struct UpdateRule {
    /// Tensors of the parameter's shape that it keeps; they start at 0.
    std::vector<std::string> state;
    /// Numbers whose products over all steps the rule needs: for a running mean by beta, 1 minus
    /// that is the sum of the weights, even if beta was changed meanwhile.
    std::vector<std::string> powers;
    /// Called for every parameter while a step is recorded.
    Callback<void(Update& update)> update;
};

/// The options of a step.
struct StepOptions {
    /// True: a parameter that the loss does not depend on keeps its value. False: such parameters
    /// are a UserError that names all of them.
    bool allow_unused = false;
};

struct OptimizerState;

/// A handle of parameters and of the state of their updates; copies are the same optimizer. Inside
/// `compile({net, optimizer}, ..)` a step is part of the program; elsewhere it is computed at once.
///
/// Example: after `UpdateRule rule; rule.update = [](Update& u) { u.parameter -= u.number("lr") *
/// u.gradient; };` `Variable w({1}, constant_init(1), true);`
/// `Optimizer descent({{"w", w}}, rule, {Number("lr", 0.1f)});` `descent.step(square(w.value()));`
/// `w.value()` is `{0.8}`.
class Optimizer {
  public:
    /// Makes an optimizer with a rule of the caller's own; optimizers.h has the known ones.
    /// UserError without parameters.
    Optimizer(const std::vector<NamedVariable>& parameters, const UpdateRule& rule,
              const std::vector<Number>& numbers, SourceLine line = here());

    /// Returns a number by its name, such as "lr", which a slider may change as long as the
    /// optimizer exists. UserError that lists all names if there is none.
    float& operator[](const std::string& name) const;

    /// Changes the parameters down the gradient of `loss`, one element, and gives the loss,
    /// computed unless something is recorded. UserError where the loss does not depend on a
    /// parameter.
    Tensor step(const Tensor& loss, const StepOptions& options = {},
                SourceLine line = here()) const;
    /// The same by gradients that are known: one per parameter, of its shape. `step({g})` is a list
    /// of one gradient.
    ///
    /// Example: after `Variable w({}, constant_init(1), true); SGD sgd({{"w", w}}, {.lr = 0.5f});`
    /// `sgd.step({Tensor(1.0f)});` `w.value()` is `0.5`.
    /// @{
    void step(const std::vector<Tensor>& gradients, SourceLine line = here()) const;
    void step(std::initializer_list<Tensor> gradients, SourceLine line = here()) const {
        step(std::vector<Tensor>(gradients), line);
    }
    /// @}
    /// Begins again: resets its state to the first values. Parameters and numbers stay.
    void reset(SourceLine line = here()) const;
    /// Steps that changed something. Waits for the device.
    int64_t steps() const;

    /// Gradients are scaled so that all of them together have at most this norm: number
    /// "clip_norm". R. Pascanu et al., 2013. It works like torch's clip_grad_norm_: if one element
    /// is nan so is the norm, and every gradient becomes nan; scale_loss() skips such a step.
    ///
    /// This and the following, up to scale_loss(), are options of steps: set them before the first
    /// step is recorded.
    void clip_norm(float norm) const;
    /// Each parameter's gradient is scaled by itself, so that it has at most this norm: number
    /// "clip_each_norm". It works like PyTorch's clip_grad_norm_ of one parameter at a time, and
    /// comes before clip_norm if both are set.
    ///
    /// Example: after `Variable a({2}, constant_init(1), true), b({}, constant_init(1), true);`
    /// `SGD sgd({{"a", a}, {"b", b}}, {.lr = 1}); sgd.clip_each_norm(1);`
    /// `sgd.step({tensor({3.0f, 4.0f}), Tensor(0.5f)});` `a.value()` is `{0.4, 0.2}`, `b.value()`
    /// is `0.5`.
    void clip_each_norm(float norm) const;
    /// Every element of a gradient is kept within -value and value: number "clip_value". It works
    /// like PyTorch's clip_grad_value_, and comes before the norms are clipped.
    void clip_value(float value) const;
    /// Only every `count`-th step changes parameters, by the mean gradient of so many. UserError: a
    /// count below 1.
    void accumulate(int count) const;
    /// `combine` gets the gradients of every step, as they are before anything else is done with
    /// them, and gives those to use, of equal shapes: such as the means over several processes
    /// (firn/distributed.h). f16 and bf16 are f32 there.
    void combine_gradients(
        const Callback<std::vector<Tensor>(const std::vector<Tensor>&)>& combine) const;
    /// The loss is scaled before its gradients are taken, so that those do not underflow in f16: by
    /// 2^16 at first, doubled after `interval` good steps, and halved where a gradient is not
    /// finite; that step is left out. P. Micikevicius et al., "Mixed Precision Training", 2018.
    void scale_loss(int interval = 2000) const;

    /// Returns the parameters that it changes, as they were given.
    const std::vector<NamedVariable>& parameters() const;
    /// Parameters, its own variables (`optimizer.exp_avg.layers.0.weight`) and its numbers.
    operator State() const;

  private:
    SharedPtr<OptimizerState> state_;
};

/// The length of all gradients as one vector, rank 0, f32.
///
/// Example: `global_norm({tensor({3.0f}), tensor({0.0f, 4.0f})})` is `5`.
Tensor global_norm(const std::vector<Tensor>& gradients);

}  // namespace firn
