// Random declarations, assignments, stores and kernels by hand, within the masks of the open
// scopes.
#include <algorithm>

#include "tests/programs/generator.h"

namespace firn::programs {

bool Generator::takes_masks(const Extents& extents) const {
    return std::all_of(scopes_.begin(), scopes_.end(),
                       [&](const Scope& scope) { return fits(scope.mask, extents); });
}

bool Generator::masked(size_t depth) const {
    return std::any_of(scopes_.begin(), scopes_.begin() + static_cast<long>(depth),
                       [](const Scope& scope) { return !scope.mask.empty(); });
}

Extents Generator::any_shape(bool may_be_empty) {
    if (kernel_) return {};
    std::vector<Extents> all;
    for (const Variable& each : variables_)
        if (takes_masks(each.extents) && (may_be_empty || !each.extents.empty()))
            all.push_back(each.extents);
    for (const Extents& each : shapes_)
        if (takes_masks(each)) all.push_back(each);
    return dice_.of(all);
}

std::vector<size_t> Generator::assignable() const {
    std::vector<size_t> out;
    for (size_t k = 0; k < variables_.size(); ++k) {
        const Variable& each = variables_[k];
        if (!each.fixed && each.depth >= kernel_ && takes_masks(each.extents) &&
            (each.own_place || !masked(each.depth)))
            out.push_back(k);
    }
    return out;
}

void Generator::block(std::vector<Statement>& out, int count, int depth) {
    const size_t outer = variables_.size();
    for (; count > 0; --count) statement(out, depth);
    if (!scopes_.empty()) variables_.resize(outer);
}

void Generator::inside(const Scope& scope, std::vector<Statement>& out, int depth) {
    scopes_.push_back(scope);
    block(out, 1 + dice_.below(3), depth - 1);
    scopes_.pop_back();
}

void Generator::statement(std::vector<Statement>& out, int depth) {
    const int kind = dice_.below(100);
    if (kind < 18) return declare(out);
    if (kind < 44) return assign(out);
    if (kind < 47) return swap(out);
    if (kind < 60)
        return dice_.chance(20) && !kernel_ && !masked(scopes_.size()) ? kernel(out) : store(out);
    if (kind < 63 && scopes_.empty()) return realize(out);
    if (depth == 0) return assign(out);
    if (kind < 76) return branch(out, depth);
    if (kind < 91) return loop(out, depth);
    return repeat(out, depth);
}

void Generator::declare(std::vector<Statement>& out) {
    Statement s{.kind = Kind::Declare, .target = next_++};
    Variable made{.handle = s.target, .depth = scopes_.size()};
    if (dice_.chance(30) && !kernel_) {
        const Variable& from = dice_.of(variables_);
        made.dtype = from.dtype, made.extents = from.extents, made.own_place = from.own_place;
        s.value = handle_of(from.handle);
    } else {
        made.extents = any_shape();
        Typed x = exprs_.make(made.extents, 2, false);
        made.dtype = x.dtype, made.own_place = x.own_place;
        s.value = std::move(x.expr);
    }
    if (masked(scopes_.size()) && dice_.chance(50)) made.own_place = true;
    out.push_back(std::move(s));
    variables_.push_back(std::move(made));
}

void Generator::assign(std::vector<Statement>& out) {
    const std::vector<size_t> all = assignable();
    if (all.empty()) return declare(out);
    const size_t which = dice_.of(all);
    const Variable to = variables_[which];
    Statement s{.kind = Kind::Assign, .target = to.handle};
    const bool own = to.depth == scopes_.size();
    // A value that keeps its own places may depend on others that do.
    Typed x =
        own ? exprs_.make(to.extents, 2, !to.own_place)
            : exprs_.make_as(to.dtype, to.extents, 3, !to.own_place && !masked(scopes_.size()));
    if (own) variables_[which].dtype = x.dtype;
    s.value = std::move(x.expr);
    out.push_back(std::move(s));
    changed_.push_back(to.handle);
}

void Generator::swap(std::vector<Statement>& out) {
    const std::vector<size_t> all = assignable();
    for (const size_t a : all)
        for (const size_t b : all)
            if (a != b && variables_[a].extents == variables_[b].extents &&
                variables_[a].dtype == variables_[b].dtype &&
                variables_[a].own_place == variables_[b].own_place && dice_.chance(60)) {
                out.push_back({.kind = Kind::Swap,
                               .target = variables_[a].handle,
                               .other = variables_[b].handle});
                changed_.push_back(variables_[a].handle), changed_.push_back(variables_[b].handle);
                return;
            }
    assign(out);
}

Combine Generator::any_combine(DType dtype) {
    if (dice_.chance(50) || dtype.bytes() == 8)
        return dice_.chance(75) ? Combine::Last : Combine::Update;
    if (dtype.is_bool())
        return dice_.pick({Combine::Last, Combine::And, Combine::Or, Combine::Xor});
    if (dtype.is_float())
        return dice_.pick({Combine::Add, Combine::Add, Combine::Min, Combine::Max});
    return dice_.pick({Combine::Add, Combine::Add, Combine::Add, Combine::Min, Combine::Max,
                       Combine::Mul, Combine::And, Combine::Or, Combine::Xor});
}

void Generator::store(std::vector<Statement>& out) {
    std::vector<const Variable*> all;
    for (const Variable& each : variables_)
        if (!each.fixed && each.depth >= kernel_ && !each.own_place && !each.extents.empty() &&
            !masked(each.depth))
            all.push_back(&each);
    if (all.empty()) return assign(out);
    const Variable to = *dice_.of(all);
    const bool rows = to.extents.size() > 1 && dice_.chance(20);
    const Extents lead = any_shape();
    Extents whole = lead;
    if (rows) whole.insert(whole.end(), to.extents.begin() + 1, to.extents.end());
    if (whole.size() > 3) return assign(out);
    Statement s{.kind = Kind::Store, .target = to.handle};
    for (size_t axis = 0; axis < (rows ? 1 : to.extents.size()); ++axis)
        s.places.push_back(exprs_.place(lead, to.extents[axis], 2, rows).expr);
    s.combine = any_combine(to.dtype);
    Typed from = exprs_.make_as(to.dtype, whole, 2, rows);
    if (s.combine == Combine::Update) from = cast_of(std::move(from), to.dtype);
    s.value = std::move(from.expr);
    out.push_back(std::move(s));
    changed_.push_back(to.handle);
}

void Generator::kernel(std::vector<Statement>& out) {
    std::vector<Variable> all;
    for (const Variable& each : variables_)
        if (!each.fixed && !each.own_place && !each.extents.empty()) all.push_back(each);
    if (all.empty()) return assign(out);
    const Variable to = dice_.of(all);
    Statement s{.kind = Kind::Kernel, .target = to.handle, .other = next_};
    s.rank = static_cast<int>(to.extents.size());
    Expr own;
    own.form = Form::Read, own.args = {handle_of(to.handle)};
    if (dice_.chance(50))
        for (int axis = 0; axis < s.rank; ++axis)
            s.group.push_back(axis == 0 ? dice_.pick({1, 4, 8}) : dice_.pick({2, 4}));
    const std::vector<Variable> outer = variables_;
    scopes_.push_back({});
    kernel_ = scopes_.size();
    exprs_.of_elements(true);
    for (int axis = 0; axis < s.rank; ++axis) {
        own.args.push_back(handle_of(next_));
        declared(next_++, i32, {}, true);
    }
    // An invocation reads only its own element of the target.
    std::erase_if(variables_, [&](const Variable& each) { return each.handle == to.handle; });
    Statement& entry = s.body.emplace_back(Statement{.kind = Kind::Declare, .target = next_++});
    entry.value = std::move(own);
    declared(entry.target, to.dtype, {});
    for (int count = dice_.below(3); count > 0; --count) statement(s.body, 1);
    s.value = exprs_.make_as(to.dtype, {}, 3, true).expr;
    kernel_ = 0;
    exprs_.of_elements(false);
    scopes_.pop_back();
    variables_ = outer;
    out.push_back(std::move(s));
    changed_.push_back(to.handle);
}

void Generator::realize(std::vector<Statement>& out) {
    out.push_back({.kind = Kind::Realize, .target = dice_.of(variables_).handle});
}

}  // namespace firn::programs
