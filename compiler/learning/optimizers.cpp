// The rules of the known optimizers.
#include "compiler/learning/optimizers.h"

#include "compiler/frontend/math.h"

namespace firn {
namespace {

/// Returns a and b, weighted by beta and 1 - beta.
Tensor running(const Tensor& beta, const Tensor& a, const Tensor& b) {
    return beta * a + (1.0f - beta) * b;
}

/// Returns the gradient, clamped to a magnitude with a finite square: an infinite second moment
/// would make all steps 0 for ever. An infinite gradient stays, and makes the parameter nan.
Tensor with_square(const Tensor& gradient) {
    const Tensor most = gradient.dtype() == f64 ? Tensor(1.3e154) : Tensor(1.8e19f);
    return select(is_inf(gradient), gradient, clip(gradient, -most, most));
}

void add_decay(Update& u) { u.gradient = u.gradient + u.number("weight_decay") * u.parameter; }
void decay(Update& u) {
    u.parameter = u.parameter * (1.0f - u.number("lr") * u.number("weight_decay"));
}

UpdateRule sgd_rule(bool nesterov) {
    UpdateRule rule;
    rule.state = {"momentum_buffer"};
    rule.update = [nesterov](Update& u) {
        add_decay(u);
        const Tensor momentum = u.number("momentum");
        u.state[0] = momentum * u.state[0] + u.gradient;
        const Tensor direction = nesterov ? u.gradient + momentum * u.state[0] : u.state[0];
        u.parameter = u.parameter - u.number("lr") * direction;
    };
    return rule;
}

UpdateRule adam_rule(bool decoupled) {
    UpdateRule rule;
    rule.state = {"exp_avg", "exp_avg_sq"};
    rule.powers = {"beta1", "beta2"};
    rule.update = [decoupled](Update& u) {
        decoupled ? decay(u) : add_decay(u);
        u.gradient = with_square(u.gradient);
        u.state[0] = running(u.number("beta1"), u.state[0], u.gradient);
        u.state[1] = running(u.number("beta2"), u.state[1], square(u.gradient));
        const Tensor mean = u.state[0] / (1.0f - u.powers[0]),
                     spread = sqrt(u.state[1] / (1.0f - u.powers[1]));
        u.parameter = u.parameter - u.number("lr") * mean / (spread + u.number("eps"));
    };
    return rule;
}

UpdateRule rmsprop_rule() {
    UpdateRule rule;
    rule.state = {"square_avg", "momentum_buffer"};
    rule.update = [](Update& u) {
        add_decay(u);
        u.gradient = with_square(u.gradient);
        u.state[0] = running(u.number("alpha"), u.state[0], square(u.gradient));
        u.state[1] =
            u.number("momentum") * u.state[1] + u.gradient / (sqrt(u.state[0]) + u.number("eps"));
        u.parameter = u.parameter - u.number("lr") * u.state[1];
    };
    return rule;
}

UpdateRule lion_rule() {
    UpdateRule rule;
    rule.state = {"exp_avg"};
    rule.update = [](Update& u) {
        decay(u);
        u.parameter =
            u.parameter - u.number("lr") * sign(running(u.number("beta1"), u.state[0], u.gradient));
        u.state[0] = running(u.number("beta2"), u.state[0], u.gradient);
    };
    return rule;
}

/// The numbers that Adam and AdamW have alike.
template <class Options>
std::vector<Number> adam_numbers(const Options& o) {
    return {{"lr", o.lr},
            {"beta1", o.beta1},
            {"beta2", o.beta2},
            {"eps", o.eps},
            {"weight_decay", o.weight_decay}};
}

}  // namespace

SGD::SGD(const std::vector<NamedVariable>& parameters, const SGDOptions& o, SourceLine line)
    : Optimizer(parameters, sgd_rule(o.nesterov),
                {{"lr", o.lr}, {"momentum", o.momentum}, {"weight_decay", o.weight_decay}}, line) {}

Adam::Adam(const std::vector<NamedVariable>& parameters, const AdamOptions& o, SourceLine line)
    : Optimizer(parameters, adam_rule(false), adam_numbers(o), line) {}

AdamW::AdamW(const std::vector<NamedVariable>& parameters, const AdamWOptions& o, SourceLine line)
    : Optimizer(parameters, adam_rule(true), adam_numbers(o), line) {}

RMSProp::RMSProp(const std::vector<NamedVariable>& parameters, const RMSPropOptions& o,
                 SourceLine line)
    : Optimizer(parameters, rmsprop_rule(),
                {{"lr", o.lr},
                 {"alpha", o.alpha},
                 {"eps", o.eps},
                 {"momentum", o.momentum},
                 {"weight_decay", o.weight_decay}},
                line) {}

Lion::Lion(const std::vector<NamedVariable>& parameters, const LionOptions& o, SourceLine line)
    : Optimizer(
          parameters, lion_rule(),
          {{"lr", o.lr}, {"beta1", o.beta1}, {"beta2", o.beta2}, {"weight_decay", o.weight_decay}},
          line) {}

}  // namespace firn
