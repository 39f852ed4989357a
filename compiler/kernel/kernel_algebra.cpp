// Index algebra of the KernelBuilder: linear forms, products, division and comparison by known
// bounds.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "compiler/ir/evaluate.h"
#include "compiler/kernel/kernel_builder.h"

namespace firn {

namespace {

constexpr int kSignSteps = 4;  // products that are followed to a difference
constexpr int kZeroSteps = 4;  // sums that are followed to tell whether they can be -0

bool is_zero(const KernelNode& n) {
    const auto* value = n.get_if<Scalar>();
    return value && value->f == 0 && !std::signbit(value->f);
}

bool is_minus_zero(const KernelNode& n) {
    const auto* value = n.get_if<Scalar>();
    return value && value->f == 0 && std::signbit(value->f);
}

}  // namespace

NodeId KernelBuilder::make(KernelOp op, DType dtype, std::vector<NodeId> args) {
    bool constant_inputs = true;
    for (NodeId a : args) constant_inputs = constant_inputs && is_constant(a);
    if (constant_inputs && op != KernelOp::Bitcast) {
        std::vector<Scalar> values;
        for (NodeId a : args) values.push_back(node(a).as<Scalar>());
        return constant(evaluate(graph_op(op), dtype, values));
    }
    if (op == KernelOp::Select) {
        if (const NodeId folded = fold_select(args)) return folded;
    }
    if (op == KernelOp::Cast && node(args[0]).dtype == dtype) return args[0];
    const bool integers = !args.empty() && node(args.back()).dtype == i32;
    if (integers && dtype == i32) {
        if (const NodeId made = make_integer(op, args)) return made;
    }
    if (integers && dtype == boolean && args.size() == 2) {
        if (std::optional<bool> known = compare(op, args[0], args[1])) return boolean_value(*known);
    }
    if ((op == KernelOp::And || op == KernelOp::Or) && dtype == boolean) {
        for (int k = 0; k < 2; ++k)
            if (const auto* known = node(args[k]).get_if<Scalar>()) {
                const bool value = known->i != 0;
                if (op == KernelOp::And) return value ? args[1 - k] : args[k];
                return value ? args[k] : args[1 - k];
            }
        if (args[0] == args[1]) return args[0];
    }
    if (op == KernelOp::Add && dtype.is_float())
        for (int k = 0; k < 2; ++k)  // 0 + -0 is 0: else a sum may begin with its first term
            if (is_minus_zero(node(args[k])) ||
                (is_zero(node(args[k])) && never_minus_zero(args[1 - k], kZeroSteps)))
                return args[1 - k];
    // Squares and absolute values of -x are those of x: if there is b - a, no a - b is needed.
    if (dtype.is_float() && (op == KernelOp::Abs || (op == KernelOp::Mul && args[0] == args[1])))
        args.assign(args.size(), of_either_sign(args[0], kSignSteps));
    if ((info(op).properties & kCommutative) && args[0] > args[1]) std::swap(args[0], args[1]);
    return plain(op, dtype, std::move(args));
}

NodeId KernelBuilder::nothing_to_add(DType dtype) {
    return constant(dtype.is_float() ? scalar_float(-0.0, dtype) : scalar_int(0, dtype));
}

NodeId KernelBuilder::plain(KernelOp op, DType dtype, std::vector<NodeId> args) {
    KernelNode n;
    n.op = op;
    n.dtype = dtype;
    n.args = std::move(args);
    return intern(std::move(n));
}

bool KernelBuilder::never_minus_zero(NodeId id, int steps) const {
    const KernelNode& n = node(id);
    switch (n.op) {
        case KernelOp::Constant: return !is_minus_zero(n);
        case KernelOp::Mul: return n.args[0] == n.args[1];
        case KernelOp::Abs:
        case KernelOp::Exp: return true;
        case KernelOp::Cast: return node(n.args[0]).dtype.is_integer();
        case KernelOp::Add:
            return steps > 0 && (never_minus_zero(n.args[0], steps - 1) ||
                                 never_minus_zero(n.args[1], steps - 1));
        default: return false;
    }
}

NodeId KernelBuilder::fold_select(const std::vector<NodeId>& args) {
    if (args[1] == args[2]) return args[1];
    if (const auto* chosen = node(args[0]).get_if<Scalar>()) return chosen->i ? args[1] : args[2];
    // A single choice by both conditions.
    const DType dtype = node(args[1]).dtype;
    const KernelNode yes = node(args[1]), no = node(args[2]);
    if (yes.op == KernelOp::Select && yes.args[2] == args[2])
        return make(KernelOp::Select, dtype,
                    {make(KernelOp::And, boolean, {args[0], yes.args[0]}), yes.args[1], args[2]});
    if (no.op == KernelOp::Select && no.args[1] == args[1])
        return make(KernelOp::Select, dtype,
                    {make(KernelOp::Or, boolean, {args[0], no.args[0]}), args[1], no.args[2]});
    return {};
}

NodeId KernelBuilder::of_either_sign(NodeId id, int steps) {
    const KernelNode n = node(id);
    KernelNode other;
    other.op = n.op;
    other.dtype = n.dtype;
    switch (n.op) {
        case KernelOp::Neg: return of_either_sign(n.args[0], steps);
        case KernelOp::Sub: other.args = {n.args[1], n.args[0]}; break;
        case KernelOp::Mul:
        case KernelOp::Div:
            if (steps == 0) return id;
            for (NodeId arg : n.args) other.args.push_back(of_either_sign(arg, steps - 1));
            if (n.op == KernelOp::Mul) std::sort(other.args.begin(), other.args.end());
            break;
        default: return id;
    }
    const NodeId made = existing(other);
    return made ? std::min(made, id) : id;
}

std::optional<bool> KernelBuilder::compare(KernelOp op, NodeId a, NodeId b) const {
    auto less_equal = [&](NodeId x, NodeId y) { return proved_less_equal(x, y); };
    auto less = [&](NodeId x, NodeId y) {
        if (node(x).interval.hi < node(y).interval.lo) return true;
        const NodeFacts &p = facts_[x], &q = facts_[y];
        return p.hi && q.lo && firn::proved_less_equal(*p.hi + Size(1), *q.lo);
    };
    switch (op) {
        case KernelOp::Less:
            if (less(a, b)) return true;
            if (less_equal(b, a)) return false;
            break;
        case KernelOp::LessEqual:
            if (less_equal(a, b)) return true;
            if (less(b, a)) return false;
            break;
        case KernelOp::Equal:
        case KernelOp::NotEqual:
            if (a == b) return op == KernelOp::Equal;
            if (less(a, b) || less(b, a)) return op == KernelOp::NotEqual;
            break;
        default: break;
    }
    return std::nullopt;
}

LinearForm KernelBuilder::linear_of(NodeId id) const {
    if (facts_[id].linear) return *facts_[id].linear;
    if (const auto* value = node(id).get_if<Scalar>()) return {{}, value->i};
    return {{{id, 1}}, 0};
}

/// k * (x % d) + k * d * (x / d) is k * x: undoes a split of an index that is put together again.
bool KernelBuilder::rejoin(LinearForm& linear) {
    for (size_t i = 0; i < linear.terms.size(); ++i) {
        const auto [mod_id, k] = linear.terms[i];
        if (node(mod_id).op != KernelOp::Mod) continue;
        const NodeId x = node(mod_id).args[0], d = node(mod_id).args[1];
        for (size_t j = 0; j < linear.terms.size(); ++j) {
            const auto [id, coefficient] = linear.terms[j];
            const KernelNode& n = node(id);
            auto is_quotient = [&](NodeId q) {
                return node(q).op == KernelOp::Div && node(q).args[0] == x && node(q).args[1] == d;
            };
            const auto* number = node(d).get_if<Scalar>();
            const bool by_constant = number && is_quotient(id) && coefficient == k * number->i;
            const bool by_size = n.op == KernelOp::Mul && coefficient == k &&
                                 ((n.args[0] == d && is_quotient(n.args[1])) ||
                                  (n.args[1] == d && is_quotient(n.args[0])));
            if (!by_constant && !by_size) continue;
            linear.terms.erase(linear.terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
            linear.terms.erase(linear.terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
            linear = plus(linear, linear_of(x), k);
            return true;
        }
    }
    return false;
}

NodeId KernelBuilder::from_linear(LinearForm linear) {
    while (rejoin(linear)) {
    }
    linear.offset = static_cast<int32_t>(linear.offset);
    NodeId sum;
    auto add_term = [&](NodeId term) { sum = sum ? plain(KernelOp::Add, i32, {sum, term}) : term; };
    for (const auto& [term, coefficient] : linear.terms)
        add_term(coefficient == 1 ? term : plain(KernelOp::Mul, i32, {term, integer(coefficient)}));
    if (!sum) return integer(linear.offset);
    const bool simple = linear.terms.size() == 1 && linear.terms[0].second == 1 && !linear.offset;
    if (simple) return sum;
    if (linear.offset) add_term(integer(linear.offset));
    facts_[sum].linear = std::move(linear);
    return sum;
}

NodeId KernelBuilder::product(NodeId a, NodeId b) {
    if (is_constant(a)) std::swap(a, b);
    LinearForm x = linear_of(a), y = linear_of(b);
    if (y.terms.empty() || x.terms.empty()) {
        if (x.terms.empty()) std::swap(x, y);
        return from_linear(scaled(x, y.offset));
    }
    // Distribute over short sums, so that (i - 1) * m and i * m share i * m.
    if (x.terms.size() * y.terms.size() > 4) {
        return plain(KernelOp::Mul, i32, {std::min(a, b), std::max(a, b)});
    }
    NodeId sum = integer(x.offset * y.offset);
    auto scaled = [&](NodeId term, int64_t c) { return from_linear({{{term, c}}, 0}); };
    for (auto [s, c] : x.terms) {
        for (auto [t, d] : y.terms) {
            NodeId term;
            const auto size_of = [&](NodeId id) -> const Size* {
                const auto* given = node(id).get_if<ParamAttr>();
                const ParamInfo* param = given ? &code_.params[given->param] : nullptr;
                return param && param->scalar < 0 ? &param->size : nullptr;
            };
            const Size *p = size_of(s), *q = size_of(t);
            // A product of numbers wraps around, while a product of sizes that is too large would
            // be refused; it may occur in iterations that are tried beyond a loop's end.
            if (p && q && countable(*p * *q)) {
                term = size(*p * *q);
            } else {
                term = plain(KernelOp::Mul, i32, {std::min(s, t), std::max(s, t)});
            }
            sum = add(sum, scaled(term, c * d));
        }
    }
    if (y.offset)
        for (auto [s, c] : x.terms) sum = add(sum, scaled(s, c * y.offset));
    if (x.offset)
        for (auto [t, d] : y.terms) sum = add(sum, scaled(t, d * x.offset));
    return sum;
}

/// If all terms and d are multiples of g, (g y + o) / d is y / (d / g) for 0 <= o < g, and the
/// remainder is g (y % (d / g)) + o: the part between two steps of g makes no difference.
NodeId KernelBuilder::divide_steps(const LinearForm& linear, int64_t d, bool remainder) {
    int64_t g = d;
    for (const auto& [term, c] : linear.terms) g = std::gcd(g, c);
    if (g <= 1 || linear.terms.empty()) return {};
    int64_t between = linear.offset % g;
    if (between < 0) between += g;
    LinearForm steps{linear.terms, (linear.offset - between) / g};
    for (auto& [term, c] : steps.terms) c /= g;
    const NodeId y = from_linear(std::move(steps)), e = integer(d / g);
    if (!remainder) return make(KernelOp::Div, i32, {y, e});
    const NodeId rest = make(KernelOp::Mod, i32, {y, e});
    return add(mul(rest, integer(g)), integer(between));
}

/// Rewrites min(x, c) / d as min(x / d, c / d), because quotients are monotonic; so for max. Does
/// so only if x / d needs no division any more: elements that fall into one then share what they
/// read by it.
NodeId KernelBuilder::divide_clamped(NodeId a, NodeId b) {
    const KernelNode clamped = node(a);
    if (clamped.op != KernelOp::Min && clamped.op != KernelOp::Max) return {};
    for (size_t k = 0; k < 2; ++k) {
        const NodeId limit = clamped.args[k], x = clamped.args[1 - k];
        if (!is_constant(limit)) continue;
        const NodeId quotient = make(KernelOp::Div, i32, {x, b});
        const LinearForm sum = linear_of(quotient);
        if (std::any_of(sum.terms.begin(), sum.terms.end(),
                        [&](const auto& term) { return node(term.first).op == KernelOp::Div; }))
            continue;
        return make(clamped.op, i32, {quotient, make(KernelOp::Div, i32, {limit, b})});
    }
    return {};
}

NodeId KernelBuilder::divide(NodeId a, NodeId b, bool remainder) {
    // Copies: making a node moves the others.
    const KernelNode x = node(a), y = node(b);
    const auto* number = y.get_if<Scalar>();
    const bool positive = x.interval.lo >= 0 || (facts_[a].lo && facts_[a].lo->lower_bound() >= 0);
    if (!positive) return {};
    if (number && number->i == 1) return remainder ? integer(0) : a;
    if (!remainder && number && number->i > 1)
        if (const NodeId out = divide_clamped(a, b)) return out;
    const bool by_known = number && number->i > 0;
    // Split the sum into multiples of the divisor and a rest that is proved to lie in [0, divisor).
    const LinearForm linear = linear_of(a);
    LinearForm whole, rest;
    for (const auto& [term, c] : linear.terms) {
        if (by_known && c % number->i == 0) {
            whole = plus(whole, {{{term, 1}}, 0}, c / number->i);
        } else if (term == b) {
            whole.offset += c;
        } else if (node(term).op == KernelOp::Mul &&
                   (node(term).args[0] == b || node(term).args[1] == b)) {
            const NodeId other = node(term).args[0] == b ? node(term).args[1] : node(term).args[0];
            whole = plus(whole, {{{other, 1}}, 0}, c);
        } else {
            rest.terms.emplace_back(term, c);
        }
    }
    const int64_t steps = by_known ? linear.offset / number->i * number->i : 0;
    const bool far = steps > 0 && x.interval.lo >= steps;
    if (whole.terms.empty() && whole.offset == 0) {
        if (by_known) {
            const int64_t d = number->i;
            if (x.interval.hi < d) return remainder ? a : integer(0);
            const int64_t left = firn::remainder(x.congruence, d);
            if (remainder && left >= 0) return integer(left);
            if (const NodeId out = divide_steps(linear, d, remainder)) return out;
        }
        if (facts_[a].hi && facts_[b].lo &&
            firn::proved_less_equal(*facts_[a].hi + Size(1), *facts_[b].lo))
            return remainder ? a : integer(0);
        if (!far) return {};
    }
    rest.offset = linear.offset;
    if (number) {
        const int64_t d = number->i;
        const int64_t q = linear.offset >= 0 ? linear.offset / d : -((-linear.offset + d - 1) / d);
        whole.offset += q;
        rest.offset -= q * d;
    }
    const NodeId rest_node = from_linear(rest);
    const NodeFacts& r = facts_[rest_node];
    const bool nonnegative = node(rest_node).interval.lo >= 0 || (r.lo && r.lo->lower_bound() >= 0);
    if (!nonnegative) return {};
    const bool fits =
        (number && node(rest_node).interval.hi < number->i) ||
        (r.hi && facts_[b].lo && firn::proved_less_equal(*r.hi + Size(1), *facts_[b].lo));
    if (!fits) {
        if (!number) return {};
        if (remainder) return make(KernelOp::Mod, i32, {rest_node, b});
        const NodeId rest_quotient = make(KernelOp::Div, i32, {rest_node, b});
        return add(from_linear(whole), rest_quotient);
    }
    return remainder ? rest_node : from_linear(whole);
}

NodeId KernelBuilder::make_integer(KernelOp op, const std::vector<NodeId>& args) {
    switch (op) {
        case KernelOp::Neg: return from_linear(scaled(linear_of(args[0]), -1));
        case KernelOp::Add: return from_linear(plus(linear_of(args[0]), linear_of(args[1]), 1));
        case KernelOp::Sub: return from_linear(plus(linear_of(args[0]), linear_of(args[1]), -1));
        case KernelOp::Mul: return product(args[0], args[1]);
        case KernelOp::Div: return divide(args[0], args[1], false);
        case KernelOp::Mod: return divide(args[0], args[1], true);
        case KernelOp::Min:
            if (proved_less_equal(args[0], args[1])) return args[0];
            if (proved_less_equal(args[1], args[0])) return args[1];
            return {};
        case KernelOp::Max:
            if (proved_less_equal(args[0], args[1])) return args[1];
            if (proved_less_equal(args[1], args[0])) return args[0];
            return {};
        case KernelOp::Abs:
            if (node(args[0]).interval.lo >= 0) return args[0];
            return {};
        default: return {};
    }
}

}  // namespace firn
