// A step of L-BFGS, with its recursion and its line search as recorded loops.
#include "compiler/learning/lbfgs.h"

#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/function.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/reduce.h"
#include "compiler/learning/initialise.h"

namespace firn {
namespace {

Tensor dot(const Tensor& a, const Tensor& b) { return sum(a * b); }

Tensor flat(const std::vector<Tensor>& parts) {
    std::vector<Tensor> out;
    for (const Tensor& each : parts) out.push_back(reshape(each, {-1}));
    return out.size() == 1 ? out[0] : concat(out);
}

Tensor number(const Variable& variable) { return reshape(variable.value(), {}); }

}  // namespace

LBFGS::LBFGS(const std::vector<NamedVariable>& parameters, const LBFGSOptions& options,
             SourceLine line)
    : parameters_(parameters), options_(options), lr_("lr", options.lr) {
    LineScope at(line);
    if (parameters.empty() || options.history < 1 || options.line_search < 1)
        refuse("LBFGS: " + std::to_string(parameters.size()) + " parameters, a history of " +
               std::to_string(options.history) + " and " + std::to_string(options.line_search) +
               " lengths; give 1 or more of each");
    Size n = 0;
    for (const NamedVariable& each : parameters) {
        n += element_count(each.variable.shape());
        if (each.variable.dtype() != f32)
            refuse("LBFGS: '" + each.name + "' is " + each.variable.dtype().name() +
                   "; its parameters are f32");
    }
    const auto zero = [](const Shape& shape) { return Variable(shape, constant_init(0), false); };
    steps_ = zero({1}), pairs_ = zero({1}), rho_ = zero({options.history});
    last_x_ = zero({n}), last_gradient_ = zero({n});
    s_ = zero({options.history, n}), y_ = zero({options.history, n});
}

std::vector<Tensor> LBFGS::parts(const Tensor& x) const {
    std::vector<Tensor> out;
    Size begin = 0;
    for (const NamedVariable& each : parameters_) {
        const Size end = begin + element_count(each.variable.shape());
        out.push_back(
            reshape(slice(x, {.axis = 0, .begin = begin, .end = end}), each.variable.shape()));
        begin = end;
    }
    return out;
}

Tensor LBFGS::loss_at(const Tensor& x, const Callback<Tensor()>& loss) const {
    const Binding bound(parameters_, parts(x));
    return reshape(loss(), {});
}

void LBFGS::remember(const Point& now) const {
    const Tensor s = now.x - last_x_.value(), y = now.gradient - last_gradient_.value();
    const Tensor curvature = dot(s, y);
    const Tensor serves = (number(steps_) > 0.0f) & (curvature > 1e-10f * dot(y, y));
    const Tensor pairs = number(pairs_), place = pairs.as(i32) % options_.history;
    const Tensor row = index(s_.shape(), 0) == place;
    s_.set(select(row & serves, unsqueeze(s, 0), s_.value()));
    y_.set(select(row & serves, unsqueeze(y, 0), y_.value()));
    const Tensor here = (index(rho_.shape(), 0) == place) & serves;
    rho_.set(select(here, 1.0f / select(serves, curvature, 1.0f), rho_.value()));
    pairs_.set(select(serves, pairs_.value() + 1.0f, pairs_.value()));
    last_x_.set(now.x);
    last_gradient_.set(now.gradient);
    steps_.set(steps_.value() + 1.0f);
}

Tensor LBFGS::direction(const Tensor& gradient) const {
    const int m = options_.history;
    const Tensor s = s_.value(), y = y_.value(), rho = rho_.value();
    const Tensor newest = number(pairs_).as(i32) + (m - 1);
    const Tensor last = newest % m, last_y = y(last);
    Tensor q = gradient, alpha = zeros({m});
    for (Tensor k : loop(m)) {  // from the newest; of those that there are not, rho is 0
        const Tensor i = (newest - k) % m, a = rho(i) * dot(s(i), q);
        q -= a * y(i);
        alpha(i) = a;
    }
    const Tensor square = dot(last_y, last_y);
    const Tensor any = (rho(last) > 0.0f) & (square > 0.0f);
    q *= select(any, 1.0f / select(any, rho(last) * square, 1.0f), 1.0f);
    for (Tensor k : loop(m)) {
        const Tensor i = (newest - (m - 1) + k) % m;
        q += s(i) * (alpha(i) - rho(i) * dot(y(i), q));
    }
    return -q;
}

Tensor LBFGS::step(const Callback<Tensor()>& loss, SourceLine line) const {
    LineScope at(line);
    std::vector<Tensor> parameters;
    for (const NamedVariable& each : parameters_) parameters.push_back(each.variable.value());
    const Tensor whole = loss();
    if (!element_count(whole.shape()).is(1))
        refuse("LBFGS: the loss has shape " + text(whole.shape()) +
               "; it is one number, reduce it by mean() or sum()");
    const Point now{flat(parameters), flat(grad(whole, parameters, {}, line))};
    Tensor before = reshape(whole, {});
    const Tensor first = number(steps_) == 0.0f;
    remember(now);
    Tensor way = direction(now.gradient);
    way = select(dot(way, now.gradient) < 0.0f, way, -now.gradient);
    const Tensor slope = dot(way, now.gradient);
    // Nothing is known of lengths at first: no element moves by more than the rate.
    Tensor length = lr_.tensor() * select(first, min(1.0f / (max(abs(way)) + 1e-30f), 1.0f), 1.0f);
    Tensor reached = loss_at(now.x + length * way, loss);
    const auto falls = [&] { return reached <= before + 1e-4f * length * slope; };
    while_([&] { return !falls(); },
           [&] {
               length *= 0.5f;
               reached = loss_at(now.x + length * way, loss);
           },
           {.max_steps = options_.line_search - 1});
    const Tensor next = select(falls(), now.x + length * way, now.x);
    const std::vector<Tensor> all = parts(next);
    for (size_t k = 0; k < all.size(); ++k) parameters_[k].variable.set(all[k]);
    if (recording_now()) return before;
    std::vector<Tensor*> changed;
    const State own = *this;
    for (const NamedVariable& each : own.variables) changed.push_back(&each.variable.place());
    realize_leaves({&before}, changed, line);
    return before;
}

void LBFGS::reset(SourceLine line) const {
    for (const Variable* each : {&steps_, &pairs_, &rho_, &last_x_, &last_gradient_, &s_, &y_})
        each->initialise({}, line);
}

LBFGS::operator State() const {
    State out;
    out.variables = parameters_;
    const std::pair<const char*, const Variable*> own[] = {{"steps", &steps_},
                                                           {"pairs", &pairs_},
                                                           {"rho", &rho_},
                                                           {"last_x", &last_x_},
                                                           {"s", &s_},
                                                           {"y", &y_},
                                                           {"last_gradient", &last_gradient_}};
    for (const auto& [name, variable] : own)
        out.variables.push_back({"optimizer." + std::string(name), *variable});
    out.numbers.push_back({"optimizer.lr", lr_});
    return out;
}

}  // namespace firn
