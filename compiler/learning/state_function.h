// Functions over the state of a model: compiled once, with updates in place.
#pragma once
#include <string>
#include <vector>

#include "compiler/frontend/function.h"
#include "compiler/learning/variable.h"

namespace firn {

/// A compiled function that reads variables and changes them; compile makes it.
class StateFunction {
  public:
    /// Calls it: variables that it changes have their new values afterwards, if no other tensor
    /// holds the old ones in the same memory. If the call fails they are as they were.
    std::vector<Tensor> call(const std::vector<Arg>& args) const;
    /// Returns the compiled function: its arguments are the declared ones, the variables and the
    /// numbers.
    const Function& function() const { return function_; }
    /// Returns the arguments of that function for a call with `args`, none of them donated. For
    /// explain() and tune().
    std::vector<Arg> arguments(const std::vector<Arg>& args) const;

  protected:
    friend class StateTrace;
    /// Wraps a recorded function over the variables and numbers of `state`.
    StateFunction(Function function, State state) : function_(function), state_(std::move(state)) {}

  private:
    Function function_;
    State state_;
    std::vector<size_t> changed_;  // variables, in the order of the last results
};

/// @cond
/// Records one such function.
class StateTrace {
  public:
    StateTrace(const State& state, const std::vector<ArgSpec>& specs, SourceLine line);
    std::vector<Tensor> arguments() const;
    StateFunction finish(const FlatValue& results);

  private:
    State state_;
    size_t declared_;
    Trace trace_;
    SharedPtr<Binding> variables_;
    SharedPtr<NumberBinding> numbers_;
};

template <class Layout, class Parameters>
class StateCall;
/// @endcond

/// A compiled function over state with its C++ signature.
template <class Layout, class... P>
class StateCall<Layout, TypeList<P...>> : public StateFunction {
  public:
    /// Wraps a function with as many arguments and results as the signature has.
    explicit StateCall(StateFunction function) : StateFunction(std::move(function)) {}

    /// Calls it, as StateFunction::call.
    typename Results<Layout>::Type operator()(const ArgumentOf<P>&... args) const {
        FlatArguments all;
        (add_arguments(args, all), ...);
        return from_flat<Layout>(call(all.args), function().result_lengths());
    }
};

/// Records `fn` once, as compile() does, with the variables of `state` as arguments that are
/// changed in place, and its numbers as scalar arguments: a training step is one program.
///
///     auto step = compile({net, optimizer}, [&](Tensor x, Tensor y) {
///         return optimizer.step(mse_loss(net(x), y));
///     }, {f32("n", 2), f32("n", 1)});
///     float loss = step(x, y).item<float>();
///
/// Modules that `fn` uses and that `state` has not are captured with the values that they have now.
///
/// Examples: after `Linear net(1, 1, {.bias = false, .init = constant_init(1)});`
/// `SGD sgd(net.parameters(), {.lr = 0.1f});`
/// `auto step = compile({net, sgd}, [&](Tensor x) { return sgd.step(mean(square(net(x)))); },
/// {f32("n", 1)});` `step(ones({4, 1}))` is `1`, `net.weight.value()` is `{{0.8}}`.
/// @{
template <class Fn, size_t Arity>
auto compile(const State& state, Fn fn, const ArgSpec (&specs)[Arity], SourceLine line = here()) {
    using Parameters = ParametersOfSpecs<Fn, Arity>;
    StateTrace trace(state, {std::begin(specs), std::end(specs)}, line);
    auto result =
        call_with_values(fn, trace.arguments(), lengths_for<Parameters>(Arity), Parameters());
    return StateCall<decltype(result), Parameters>(trace.finish(flat_value(result)));
}
template <class Fn>
requires std::invocable<Fn&>
auto compile(const State& state, Fn fn, SourceLine line = here()) {
    StateTrace trace(state, {}, line);
    auto result = fn();
    return StateCall<decltype(result), TypeList<>>(trace.finish(flat_value(result)));
}
/// @}

}  // namespace firn
