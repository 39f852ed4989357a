// Recording a function over variables, and calling it.
#include "compiler/learning/state_function.h"

#include <memory>

#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/realize.h"

namespace firn {
namespace {

std::vector<ArgSpec> with_state(std::vector<ArgSpec> specs, const State& state) {
    for (const NamedVariable& each : state.variables)
        specs.push_back(ArgSpec(each.variable.dtype(), each.variable.shape()));
    specs.resize(specs.size() + state.numbers.size(), f32());
    return specs;
}

}  // namespace

StateTrace::StateTrace(const State& state, const std::vector<ArgSpec>& specs, SourceLine line)
    : state_(state), declared_(specs.size()), trace_(with_state(specs, state), line) {
    const auto first = trace_.arguments().begin() + static_cast<long>(declared_);
    const auto middle = first + static_cast<long>(state.variables.size());
    variables_ = std::make_shared<Binding>(state.variables, std::vector<Tensor>(first, middle));
    numbers_ = std::make_shared<NumberBinding>(
        state.numbers, std::vector<Tensor>(middle, trace_.arguments().end()));
}

std::vector<Tensor> StateTrace::arguments() const {
    const auto begin = trace_.arguments().begin();
    return {begin, begin + static_cast<long>(declared_)};
}

StateFunction StateTrace::finish(const FlatValue& results) {
    FlatValue all = results;
    std::vector<size_t> changed;
    for (size_t k = 0; k < state_.variables.size(); ++k) {
        const Tensor& now = state_.variables[k].variable.value();
        if (now.node() == trace_.arguments()[declared_ + k].node()) continue;
        changed.push_back(k);
        all.tensors.push_back(now);
    }
    variables_ = nullptr;
    numbers_ = nullptr;
    StateFunction out(trace_.finish(all), state_);
    out.changed_ = std::move(changed);
    return out;
}

std::vector<Arg> StateFunction::arguments(const std::vector<Arg>& args) const {
    std::vector<Arg> all = args;
    for (const NamedVariable& each : state_.variables) all.emplace_back(each.variable.value());
    for (const NamedNumber& each : state_.numbers) all.emplace_back(each.number.value());
    return all;
}

std::vector<Tensor> StateFunction::call(const std::vector<Arg>& args) const {
    const SourceLine line = args.empty() ? here() : args[0].line();
    const LineScope at(line);
    // Values that were not computed yet, such as first values, are computed together.
    std::vector<Tensor*> values;
    for (const NamedVariable& each : state_.variables) values.push_back(&each.variable.place(line));
    if (!recording_now()) realize(values, line);
    std::vector<Arg> all = args;
    size_t next = 0;
    for (size_t k = 0; k < values.size(); ++k) {
        const bool changes = next < changed_.size() && changed_[next] == k;
        if (changes) ++next;
        if (changes && !recording_now())
            all.emplace_back(std::move(*values[k]), line);
        else
            all.emplace_back(*values[k], line);
    }
    for (const NamedNumber& each : state_.numbers)
        recording_now() ? all.emplace_back(each.number.tensor(line), line)
                        : all.emplace_back(each.number.value(), line);
    std::vector<Tensor> results = function_.call(all);
    const size_t own = results.size() - changed_.size();
    std::vector<Tensor*> changed;
    for (size_t k = 0; k < changed_.size(); ++k) {
        changed.push_back(values[changed_[k]]);
        *changed.back() = results[own + k];
    }
    if (!recording_now()) realize_leaves({}, changed, line);
    results.resize(own);
    return results;
}

}  // namespace firn
