// Random branches and loops.
#include <algorithm>

#include "tests/programs/generator.h"

namespace firn::programs {

const Scope* Generator::loop_to_leave() const {
    for (size_t k = scopes_.size(); k-- > kernel_;)
        if (scopes_[k].loop) {
            if (!scopes_[k].left) return nullptr;
            for (const Scope& inner : scopes_)
                if (&inner > &scopes_[k] && !fits(inner.mask, scopes_[k].mask)) return nullptr;
            return &scopes_[k];
        }
    return nullptr;
}

void Generator::branch(std::vector<Statement>& out, int depth) {
    Statement s{.kind = Kind::If};
    Scope scope;
    if (dice_.chance(65)) scope.mask = any_shape();
    s.value = exprs_.condition(scope.mask, 2, false).expr;
    inside(scope, s.body, depth);
    if (dice_.chance(40)) inside(scope, s.otherwise, depth);
    scopes_.push_back(scope);
    if (loop_to_leave() && dice_.chance(40))
        s.body.insert(s.body.begin() + (dice_.chance(50) ? 0 : static_cast<long>(s.body.size())),
                      leaving());
    scopes_.pop_back();
    out.push_back(std::move(s));
}

Statement Generator::leaving() { return {.kind = dice_.chance(65) ? Kind::Break : Kind::Continue}; }

void Generator::add_leaving(const Scope& scope, std::vector<Statement>& body) {
    Statement s{.kind = Kind::If};
    scopes_.push_back(scope);
    s.value = exprs_.condition(scope.mask, 2, false).expr;
    scopes_.pop_back();
    s.body = {leaving()};
    const int at = dice_.below(3);
    body.insert(at == 0   ? body.begin()
                : at == 1 ? body.end()
                          : body.begin() + static_cast<long>(body.size()) / 2,
                std::move(s));
}

Scope Generator::loop_scope() {
    Scope scope{.loop = true};
    scope.left = dice_.chance(40);
    if (scope.left && dice_.chance(65)) scope.mask = any_shape();
    return scope;
}

std::vector<Expr> Generator::bounds() {
    if (kernel_) return {literal_of(dice_.below(5))};  // the same for all invocations
    const Variable* counter = nullptr;
    for (const Variable& each : variables_)
        if (each.fixed && each.extents.empty()) counter = &each;
    const int kind = dice_.below(10);
    if (counter && kind < 5) {
        Expr k = handle_of(counter->handle);
        if (dice_.chance(60))
            return {apply_of(dice_.pick({Fn::Add, Fn::Sub}),
                             {std::move(k), literal_of(1 + dice_.below(2))})};
        if (dice_.chance(50))
            return {std::move(k), apply_of(Fn::Add, {handle_of(counter->handle), literal_of(2)})};
        return {std::move(k)};
    }
    if (kind < 6) return {exprs_.count(4, true).expr};
    if (kind < 7 && !program_.sizes.empty()) {
        Expr e;
        e.form = Form::Size, e.extents = {{0, program_.sizes.begin()->first}};
        return {e};
    }
    if (dice_.chance(15))
        return {literal_of(3), literal_of(-1 - dice_.below(2)), literal_of(dice_.pick({-1, -2}))};
    if (dice_.chance(15)) return {literal_of(1), literal_of(2 + dice_.below(5)), literal_of(2)};
    if (dice_.chance(12) && scopes_.empty()) return {literal_of(17 + dice_.below(3))};
    if (dice_.chance(8) && scopes_.empty()) {
        Expr data = exprs_.count(2, true).expr;  // from 17 on, and only the data says how many
        return {apply_of(Fn::Add, {std::move(data), literal_of(17)})};
    }
    return {literal_of(dice_.below(5))};
}

void Generator::loop(std::vector<Statement>& out, int depth) {
    Statement s{.kind = Kind::Loop};
    s.places = bounds();
    s.target = next_++;
    const Scope scope = loop_scope();
    const size_t outer = variables_.size();
    scopes_.push_back(scope);
    declared(s.target, i32, {}, true);
    block(s.body, 1 + dice_.below(3), depth - 1);
    scopes_.pop_back();
    if (scope.left) add_leaving(scope, s.body);
    variables_.resize(outer);
    out.push_back(std::move(s));
}

void Generator::repeat(std::vector<Statement>& out, int depth) {
    Statement s{.kind = Kind::While};
    Scope scope{.loop = true};
    scope.left = dice_.chance(20);
    if (dice_.chance(50)) scope.mask = any_shape();
    if (dice_.chance(25)) {
        s.max_steps = dice_.below(6);
        scopes_.push_back(scope);
        s.value = exprs_.condition(scope.mask, 2, false).expr;
        scopes_.pop_back();
    } else {
        counted(out, s, scope);
    }
    const int counter = counter_;
    inside(scope, s.body, depth);
    if (dice_.chance(80) && !s.max_steps) {
        Statement step{.kind = Kind::Assign, .target = counter};
        step.value = apply_of(Fn::Add, {handle_of(counter), literal_of(1)});
        s.body.insert(dice_.chance(50) ? s.body.begin() : s.body.end(), std::move(step));
    } else if (!s.max_steps) {
        s.max_steps = dice_.below(5);
    }
    if (scope.left) add_leaving(scope, s.body);
    out.push_back(std::move(s));
}

void Generator::counted(std::vector<Statement>& out, Statement& s, Scope& scope) {
    if (!takes_masks(scope.mask)) scope.mask = any_shape();
    Statement start{.kind = Kind::Declare, .target = next_++};
    counter_ = start.target;
    start.value = cast_of(exprs_.count(3, true), i32).expr;
    if (!scope.mask.empty()) {
        Expr e;
        e.form = Form::Index, e.extents = scope.mask, e.axis = 0;
        start.value = apply_of(Fn::Mod, {std::move(e), literal_of(4)});
    }
    out.push_back(std::move(start));
    declared(counter_, i32, scope.mask, true, masked(scopes_.size()));
    s.value = apply_of(Fn::Less, {handle_of(counter_), literal_of(1 + dice_.below(5))});
    if (dice_.chance(25))
        s.value =
            apply_of(Fn::And, {std::move(s.value), exprs_.condition(scope.mask, 1, false).expr});
}

}  // namespace firn::programs
