// A step: gradients, their scaling and clipping, the rule, and the variables that change.
#include "compiler/learning/optimizer.h"

#include <algorithm>
#include <memory>

#include "compiler/frontend/create.h"
#include "compiler/frontend/function.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/used_gradients.h"
#include "compiler/learning/initialise.h"

namespace firn {

struct OptimizerState {
    std::vector<NamedVariable> parameters;
    UpdateRule rule;
    std::vector<Number> numbers;
    std::vector<std::vector<Variable>> kept;  // by parameter, then as the rule's state
    std::vector<Variable> powers;
    Variable steps;
    std::vector<NamedVariable> own;  // all of the above but the parameters
    // Options beyond the rule; a variable exists only if an option needs it.
    bool clips_norm = false, clips_each_norm = false, clips_value = false;
    int accumulates = 1, scale_interval = 0;
    Callback<std::vector<Tensor>(const std::vector<Tensor>&)> combine;  // may be empty
    std::vector<Variable> accumulated;
    Variable micro_steps, scale, good_steps;
};

namespace {

Initialiser integer_init(int32_t value) {
    return
        [value](const Shape&, const RandomOptions&) { return tensor(std::vector<int32_t>{value}); };
}

Variable add_own(OptimizerState& state, const std::string& name, const Shape& shape,
                 const Initialiser& first) {
    Variable out(shape, first, false);
    state.own.push_back({"optimizer." + name, out});
    return out;
}

Tensor number(const OptimizerState& state, const std::string& name) {
    const auto found = std::find_if(state.numbers.begin(), state.numbers.end(),
                                    [&](const Number& each) { return each.name() == name; });
    if (found == state.numbers.end()) {
        std::string known;
        for (const Number& each : state.numbers) known += " " + each.name();
        refuse("optimizer: it has no number '" + name + "'; it has" + known);
    }
    return found->tensor();
}

/// The value of a variable of shape [1] as a number, which fits beside a parameter of rank 0.
Tensor one_number(const Tensor& value) { return reshape(value, {}); }

std::vector<Tensor> values(const std::vector<NamedVariable>& variables) {
    std::vector<Tensor> out;
    for (const NamedVariable& each : variables) out.push_back(each.variable.value());
    return out;
}

/// The gradients of the loss by all parameters.
std::vector<Tensor> gradients_of(const OptimizerState& state, const Tensor& loss,
                                 const StepOptions& options, SourceLine line) {
    const std::vector<Tensor> parameters = values(state.parameters);
    std::vector<Tensor> out;
    std::string unused;
    size_t count = 0;
    for (const std::optional<Tensor>& found : used_gradients(loss, parameters, line)) {
        const size_t k = out.size();
        out.push_back(found ? *found : zeros(parameters[k].shape(), parameters[k].dtype()));
        if (!found) unused += (count++ ? ", '" : "'") + state.parameters[k].name + "'";
    }
    if (count == out.size()) grad(loss, parameters, {}, line);  // says why
    if (count > 0 && !options.allow_unused)
        refuse("optimizer: the loss does not depend on " + unused +
               "; use what is missing, freeze() it before the optimizer is made, or step with "
               "{.allow_unused = true}");
    return out;
}

Tensor all_finite(const std::vector<Tensor>& gradients) {
    Tensor finite = Tensor(true);
    for (const Tensor& each : gradients) finite = finite & all(!(is_nan(each) | is_inf(each)));
    return finite;
}

/// A variable that changes where `applies` holds; always, where that is not given.
void change(const Variable& variable, const Tensor& value, const Tensor* applies) {
    variable.set(applies ? select(*applies, value, variable.value()) : value);
}

/// Changes the scale of the loss after gradients that were finite or not.
void rescale(const OptimizerState& state, const Tensor& finite) {
    const Tensor scale = state.scale.value(), good = state.good_steps.value() + 1;
    const Tensor grows = good >= state.scale_interval;
    const Tensor larger = min(select(grows, scale * 2.0f, scale), 16777216.0f);
    state.scale.set(select(finite, larger, max(scale * 0.5f, 1.0f)));
    state.good_steps.set(select(finite & !grows, good, 0));
}

/// The mean gradients of the steps since parameters changed last, and whether they do now.
std::vector<Tensor> accumulated(const OptimizerState& state, const std::vector<Tensor>& gradients,
                                const Tensor* finite, Tensor& applies) {
    const Tensor micro = state.micro_steps.value(), ends = micro == state.accumulates - 1;
    const Tensor last = one_number(ends);
    applies = finite ? Tensor(last & *finite) : last;
    std::vector<Tensor> out;
    for (size_t k = 0; k < gradients.size(); ++k) {
        const Variable& sum = state.accumulated[k];
        out.push_back(sum.value() + gradients[k] / static_cast<float>(state.accumulates));
        change(sum, select(last, 0.0f, out.back()), finite);
    }
    change(state.micro_steps, select(ends, 0, micro + 1), finite);
    return out;
}

/// Returns the factor for gradients, so that all of them together have at most this norm.
Tensor least_factor(const Tensor& norm, const std::vector<Tensor>& gradients) {
    const Tensor ratio = norm / (global_norm(gradients) + 1e-6f);
    // A minimum would pass over nan.
    return select(ratio > 1.0f, 1.0f, ratio);
}

void clip(const OptimizerState& state, std::vector<Tensor>& gradients) {
    if (state.clips_value) {
        const Tensor most = number(state, "clip_value");
        for (Tensor& each : gradients) each = clip(each, -most, most);
    }
    if (state.clips_each_norm)
        for (Tensor& each : gradients)
            each = each * least_factor(number(state, "clip_each_norm"), {each});
    if (state.clips_norm) {
        const Tensor factor = least_factor(number(state, "clip_norm"), gradients);
        for (Tensor& each : gradients) each = each * factor;
    }
}

/// Applies the rule to all parameters, where `applies` holds.
void update(const OptimizerState& state, const std::vector<Tensor>& gradients,
            const Tensor* applies) {
    std::vector<Tensor> powers;
    for (size_t k = 0; k < state.powers.size(); ++k) {
        const Tensor next = state.powers[k].value() * number(state, state.rule.powers[k]);
        change(state.powers[k], next, applies);
        powers.push_back(one_number(next));
    }
    change(state.steps, state.steps.value() + 1, applies);
    for (size_t k = 0; k < gradients.size(); ++k) {
        const Variable& parameter = state.parameters[k].variable;
        const DType own = parameter.dtype();
        Update update{parameter.value(), gradients[k], {}, powers, [&state](const char* name) {
                          return number(state, name);
                      }};
        for (const Variable& each : state.kept[k]) update.state.push_back(each.value());
        if (own.is_half()) update.parameter = update.parameter.as(f32);
        state.rule.update(update);
        change(parameter, update.parameter.as(own), applies);
        for (size_t s = 0; s < update.state.size(); ++s)
            change(state.kept[k][s], update.state[s], applies);
    }
}

/// The gradients as the caller's function makes them.
std::vector<Tensor> combined(const OptimizerState& state, const std::vector<Tensor>& gradients) {
    std::vector<Tensor> out = state.combine(gradients);
    bool fits = out.size() == gradients.size();
    for (size_t k = 0; fits && k < out.size(); ++k)
        fits = Shape(out[k].shape()) == Shape(gradients[k].shape());
    if (!fits)
        refuse("optimizer: combine_gradients gives other shapes than those of the gradients");
    return out;
}

/// A step by gradients of the loss as it was scaled.
void step_by(const OptimizerState& state, std::vector<Tensor> gradients) {
    Tensor finite, applies;
    const Tensor *if_finite = nullptr, *if_applies = nullptr;
    for (Tensor& each : gradients)
        if (each.dtype().is_half()) each = each.as(f32);
    if (state.combine) gradients = combined(state, gradients);
    if (state.scale.exists()) {
        for (Tensor& each : gradients) each = each / one_number(state.scale.value());
        finite = all_finite(gradients);
        if_finite = if_applies = &finite;
        rescale(state, finite);
    }
    if (state.micro_steps.exists()) {
        gradients = accumulated(state, gradients, if_finite, applies);
        if_applies = &applies;
    }
    clip(state, gradients);
    update(state, gradients, if_applies);
}

/// Computes the changes of a step, and the loss, in one program. The changed values depend on
/// nothing then: a gradient does not go through earlier steps.
void compute(const OptimizerState& state, Tensor* loss, SourceLine line) {
    if (recording_now()) return;
    std::vector<Tensor*> values, changed;
    if (loss) values.push_back(loss);
    for (const auto* list : {&state.parameters, &state.own})
        for (const NamedVariable& each : *list) changed.push_back(&each.variable.place());
    realize_leaves(values, changed, line);
}

}  // namespace

Optimizer::Optimizer(const std::vector<NamedVariable>& parameters, const UpdateRule& rule,
                     const std::vector<Number>& numbers, SourceLine line)
    : state_(std::make_shared<OptimizerState>()) {
    LineScope at(line);
    if (parameters.empty())
        refuse(
            "optimizer: it is given no parameters; give it net.parameters() of a module that "
            "has some that are not frozen");
    state_->parameters = parameters;
    state_->rule = rule;
    state_->numbers = numbers;
    for (const NamedVariable& each : parameters) {
        auto& kept = state_->kept.emplace_back();
        for (const std::string& name : rule.state)
            kept.push_back(
                add_own(*state_, name + "." + each.name, each.variable.shape(), constant_init(0)));
    }
    for (const std::string& name : rule.powers)
        state_->powers.push_back(add_own(*state_, name + "_power", {1}, constant_init(1)));
    state_->steps = add_own(*state_, "steps", {1}, integer_init(0));
}

float& Optimizer::operator[](const std::string& name) const {
    for (const Number& each : state_->numbers)
        if (each.name() == name) return each.value();
    number(*state_, name);  // says which there are
    return state_->numbers[0].value();
}

Tensor Optimizer::step(const Tensor& loss, const StepOptions& options, SourceLine line) const {
    LineScope at(line);
    if (!element_count(loss.shape()).is(1))
        refuse("optimizer: the loss has shape " + text(loss.shape()) +
               "; it is one number, reduce it by mean() or sum()");
    const Tensor scaled = state_->scale.exists()
                              ? reshape(loss.as(f32), {}) * one_number(state_->scale.value())
                              : loss;
    step_by(*state_, gradients_of(*state_, scaled, options, line));
    Tensor out = loss;
    compute(*state_, &out, line);
    return out;
}

void Optimizer::combine_gradients(
    const Callback<std::vector<Tensor>(const std::vector<Tensor>&)>& combine) const {
    state_->combine = combine;
}

void Optimizer::step(const std::vector<Tensor>& gradients, SourceLine line) const {
    LineScope at(line);
    if (state_->scale.exists())
        refuse("optimizer: it scales the loss, and is given gradients; give it the loss");
    if (gradients.size() != state_->parameters.size())
        refuse("optimizer: it is given " + std::to_string(gradients.size()) + " gradients for " +
               std::to_string(state_->parameters.size()) + " parameters");
    for (size_t k = 0; k < gradients.size(); ++k) {
        const NamedVariable& each = state_->parameters[k];
        if (Shape(gradients[k].shape()) != each.variable.shape())
            refuse("optimizer: the gradient of '" + each.name + "' has shape " +
                   text(gradients[k].shape()) + ", and the parameter " +
                   text(each.variable.shape()));
    }
    step_by(*state_, gradients);
    compute(*state_, nullptr, line);
}

void Optimizer::reset(SourceLine line) const {
    for (const NamedVariable& each : state_->own) each.variable.initialise({}, line);
}

int64_t Optimizer::steps() const { return state_->steps.value().item<int64_t>(); }

void Optimizer::clip_norm(float norm) const {
    state_->clips_norm = true;
    state_->numbers.emplace_back("clip_norm", norm);
}
void Optimizer::clip_each_norm(float norm) const {
    state_->clips_each_norm = true;
    state_->numbers.emplace_back("clip_each_norm", norm);
}
void Optimizer::clip_value(float value) const {
    state_->clips_value = true;
    state_->numbers.emplace_back("clip_value", value);
}

void Optimizer::accumulate(int count) const {
    if (count < 1)
        refuse("optimizer: it is to accumulate " + std::to_string(count) +
               " steps; give 1 or more");
    state_->accumulates = count;
    if (state_->micro_steps.exists()) return;
    state_->micro_steps = add_own(*state_, "micro_steps", {1}, integer_init(0));
    for (const NamedVariable& each : state_->parameters)
        state_->accumulated.push_back(
            add_own(*state_, "accumulated." + each.name, each.variable.shape(), constant_init(0)));
}

void Optimizer::scale_loss(int interval) const {
    state_->scale_interval = interval;
    if (state_->scale.exists()) return;
    state_->scale = add_own(*state_, "loss_scale", {1}, constant_init(65536));
    state_->good_steps = add_own(*state_, "good_steps", {1}, integer_init(0));
}

const std::vector<NamedVariable>& Optimizer::parameters() const { return state_->parameters; }

Optimizer::operator State() const {
    State out;
    out.variables = state_->parameters;
    out.variables.insert(out.variables.end(), state_->own.begin(), state_->own.end());
    for (const Number& each : state_->numbers)
        out.numbers.push_back({"optimizer." + each.name(), each});
    return out;
}

Tensor global_norm(const std::vector<Tensor>& gradients) {
    Tensor squares = 0.0f;
    for (const Tensor& each : gradients)
        squares = squares + sum(square(each.dtype().is_half() ? each.as(f32) : each));
    return sqrt(squares);
}

}  // namespace firn
