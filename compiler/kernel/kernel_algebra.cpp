// Index algebra of the KernelBuilder: linear forms, products, division and comparison by known
// bounds.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/ir/evaluate.h"
#include "compiler/kernel/kernel_builder.h"

namespace firn {

namespace {

constexpr int kZeroSteps = 4;  // sums that are followed to tell whether they can be -0

bool is_zero(const KernelNode& n) {
    return n.op == KernelOp::Constant && n.constant.f == 0 && !std::signbit(n.constant.f);
}

}  // namespace

int KernelBuilder::make(KernelOp op, DType dtype, std::vector<int> args) {
    bool constant_inputs = true;
    for (int a : args) constant_inputs = constant_inputs && is_constant(a);
    if (constant_inputs && op != KernelOp::Bitcast) {
        std::vector<Scalar> values;
        for (int a : args) values.push_back(node(a).constant);
        return constant(evaluate(graph_op(op), dtype, values));
    }
    if (op == KernelOp::Select) {
        const int folded = fold_select(args);
        if (folded >= 0) return folded;
    }
    if (op == KernelOp::Cast && node(args[0]).dtype == dtype) return args[0];
    const bool integers = !args.empty() && node(args.back()).dtype == i32;
    if (integers && dtype == i32) {
        const int made = make_integer(op, args);
        if (made >= 0) return made;
    }
    if (integers && dtype == boolean && args.size() == 2) {
        if (std::optional<bool> known = compare(op, args[0], args[1])) return boolean_value(*known);
    }
    if ((op == KernelOp::And || op == KernelOp::Or) && dtype == boolean) {
        for (int k = 0; k < 2; ++k)
            if (is_constant(args[k])) {
                const bool value = node(args[k]).constant.i != 0;
                if (op == KernelOp::And) return value ? args[1 - k] : args[k];
                return value ? args[k] : args[1 - k];
            }
        if (args[0] == args[1]) return args[0];
    }
    if (op == KernelOp::Add && dtype.is_float())
        for (int k = 0; k < 2; ++k)  // 0 + -0 is 0: else a sum may begin with its first term
            if (is_zero(node(args[k])) && never_minus_zero(args[1 - k], kZeroSteps))
                return args[1 - k];
    if ((info(op).properties & kCommutative) && args[0] > args[1]) std::swap(args[0], args[1]);
    KernelNode n;
    n.op = op;
    n.dtype = dtype;
    n.args = std::move(args);
    return intern(std::move(n));
}

bool KernelBuilder::never_minus_zero(int id, int steps) const {
    const KernelNode& n = node(id);
    switch (n.op) {
        case KernelOp::Constant: return n.constant.f != 0 || !std::signbit(n.constant.f);
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

int KernelBuilder::fold_select(const std::vector<int>& args) {
    if (args[1] == args[2]) return args[1];
    if (is_constant(args[0])) return node(args[0]).constant.i ? args[1] : args[2];
    return -1;
}

std::optional<bool> KernelBuilder::compare(KernelOp op, int a, int b) const {
    auto less_equal = [&](int x, int y) { return proved_less_equal(x, y); };
    auto less = [&](int x, int y) {
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

LinearForm KernelBuilder::linear_of(int id) const {
    if (facts_[id].linear) return *facts_[id].linear;
    if (is_constant(id)) return {{}, node(id).constant.i};
    return {{{id, 1}}, 0};
}

/// k * (x % d) + k * d * (x / d) is k * x: undoes a split of an index that is put together again.
bool KernelBuilder::rejoin(LinearForm& linear) {
    for (size_t i = 0; i < linear.terms.size(); ++i) {
        const auto [mod_id, k] = linear.terms[i];
        if (node(mod_id).op != KernelOp::Mod) continue;
        const int x = node(mod_id).args[0], d = node(mod_id).args[1];
        for (size_t j = 0; j < linear.terms.size(); ++j) {
            const auto [id, coefficient] = linear.terms[j];
            const KernelNode& n = node(id);
            auto is_quotient = [&](int q) {
                return node(q).op == KernelOp::Div && node(q).args[0] == x && node(q).args[1] == d;
            };
            const bool by_constant =
                is_constant(d) && is_quotient(id) && coefficient == k * node(d).constant.i;
            const bool by_size = n.op == KernelOp::Mul && coefficient == k &&
                                 ((n.args[0] == d && is_quotient(n.args[1])) ||
                                  (n.args[1] == d && is_quotient(n.args[0])));
            if (!by_constant && !by_size) continue;
            LinearForm joined = linear_of(x);
            joined.constant = joined.constant * k + linear.constant;
            std::map<int, int64_t> terms;
            for (auto [t, c] : joined.terms) terms[t] += c * k;
            for (size_t t = 0; t < linear.terms.size(); ++t)
                if (t != i && t != j) terms[linear.terms[t].first] += linear.terms[t].second;
            joined.terms.assign(terms.begin(), terms.end());
            linear = std::move(joined);
            return true;
        }
    }
    return false;
}

int KernelBuilder::from_linear(LinearForm linear) {
    std::erase_if(linear.terms, [](const auto& t) { return t.second == 0; });
    while (rejoin(linear)) std::erase_if(linear.terms, [](const auto& t) { return t.second == 0; });
    linear.constant = static_cast<int32_t>(linear.constant);
    int sum = -1;
    auto plus = [&](int term) {
        if (sum < 0) {
            sum = term;
            return;
        }
        KernelNode n;
        n.op = KernelOp::Add;
        n.dtype = i32;
        n.args = {sum, term};
        sum = intern(std::move(n));
    };
    for (const auto& [term, coefficient] : linear.terms) {
        if (coefficient == 1) {
            plus(term);
            continue;
        }
        KernelNode n;
        n.op = KernelOp::Mul;
        n.dtype = i32;
        n.args = {term, integer(coefficient)};
        plus(intern(std::move(n)));
    }
    if (sum < 0) return integer(linear.constant);
    const bool simple = linear.terms.size() == 1 && linear.terms[0].second == 1 && !linear.constant;
    if (simple) return sum;
    if (linear.constant) plus(integer(linear.constant));
    facts_[sum].linear = std::move(linear);
    return sum;
}

int KernelBuilder::product(int a, int b) {
    if (is_constant(a)) std::swap(a, b);
    LinearForm x = linear_of(a), y = linear_of(b);
    if (y.terms.empty() || x.terms.empty()) {
        if (x.terms.empty()) std::swap(x, y);
        LinearForm out;
        for (auto [t, c] : x.terms) out.terms.emplace_back(t, c * y.constant);
        out.constant = x.constant * y.constant;
        return from_linear(std::move(out));
    }
    // Distribute over short sums, so that (i - 1) * m and i * m share i * m.
    if (x.terms.size() * y.terms.size() > 4) {
        KernelNode n;
        n.op = KernelOp::Mul;
        n.dtype = i32;
        n.args = {std::min(a, b), std::max(a, b)};
        return intern(std::move(n));
    }
    int sum = integer(x.constant * y.constant);
    auto scaled = [&](int term, int64_t c) { return from_linear({{{term, c}}, 0}); };
    for (auto [s, c] : x.terms) {
        for (auto [t, d] : y.terms) {
            const KernelNode &p = node(s), &q = node(t);
            int term;
            const auto is_size = [&](const KernelNode& n) {
                return n.op == KernelOp::Param && code_.params[n.param].scalar < 0;
            };
            // A product of numbers wraps around where one of sizes is refused: of the iterations
            // that are tried beyond a loop's end, too.
            if (is_size(p) && is_size(q) &&
                countable(code_.params[p.param].size * code_.params[q.param].size)) {
                const Size folded = code_.params[p.param].size * code_.params[q.param].size;
                term = size(folded);
            } else {
                KernelNode n;
                n.op = KernelOp::Mul;
                n.dtype = i32;
                n.args = {std::min(s, t), std::max(s, t)};
                term = intern(std::move(n));
            }
            sum = add(sum, scaled(term, c * d));
        }
    }
    if (y.constant)
        for (auto [s, c] : x.terms) sum = add(sum, scaled(s, c * y.constant));
    if (x.constant)
        for (auto [t, d] : y.terms) sum = add(sum, scaled(t, d * x.constant));
    return sum;
}

int KernelBuilder::divide(int a, int b, bool remainder) {
    // Copies: making a node moves the others.
    const KernelNode x = node(a), y = node(b);
    const bool positive = x.interval.lo >= 0 || (facts_[a].lo && facts_[a].lo->lower_bound() >= 0);
    if (!positive) return -1;
    if (is_constant(b) && y.constant.i == 1) return remainder ? integer(0) : a;
    // Split the sum into multiples of the divisor and a rest that is proved to lie in [0, divisor).
    const LinearForm linear = linear_of(a);
    LinearForm whole, rest;
    for (const auto& [term, c] : linear.terms) {
        if (is_constant(b) && y.constant.i > 0 && c % y.constant.i == 0) {
            whole.terms.emplace_back(term, c / y.constant.i);
        } else if (term == b) {
            whole.constant += c;
        } else if (node(term).op == KernelOp::Mul &&
                   (node(term).args[0] == b || node(term).args[1] == b)) {
            const int other = node(term).args[0] == b ? node(term).args[1] : node(term).args[0];
            whole.terms.emplace_back(other, c);
        } else {
            rest.terms.emplace_back(term, c);
        }
    }
    if (whole.terms.empty() && whole.constant == 0) {
        if (is_constant(b) && y.constant.i > 0) {
            const int64_t d = y.constant.i;
            if (x.interval.hi < d) return remainder ? a : integer(0);
            const int64_t left = firn::remainder(x.congruence, d);
            if (remainder && left >= 0) return integer(left);
        }
        if (facts_[a].hi && facts_[b].lo &&
            firn::proved_less_equal(*facts_[a].hi + Size(1), *facts_[b].lo))
            return remainder ? a : integer(0);
        return -1;
    }
    rest.constant = linear.constant;
    if (is_constant(b)) {
        const int64_t d = y.constant.i;
        const int64_t q =
            linear.constant >= 0 ? linear.constant / d : -((-linear.constant + d - 1) / d);
        whole.constant += q;
        rest.constant -= q * d;
    }
    const int rest_node = from_linear(rest);
    const NodeFacts& r = facts_[rest_node];
    const bool nonnegative = node(rest_node).interval.lo >= 0 || (r.lo && r.lo->lower_bound() >= 0);
    if (!nonnegative) return -1;
    int rest_quotient = -1;
    const bool fits =
        (is_constant(b) && node(rest_node).interval.hi < y.constant.i) ||
        (r.hi && facts_[b].lo && firn::proved_less_equal(*r.hi + Size(1), *facts_[b].lo));
    if (!fits) {
        if (!is_constant(b)) return -1;
        if (remainder) return make(KernelOp::Mod, i32, {rest_node, b});
        rest_quotient = make(KernelOp::Div, i32, {rest_node, b});
        return add(from_linear(whole), rest_quotient);
    }
    return remainder ? rest_node : from_linear(whole);
}

int KernelBuilder::make_integer(KernelOp op, const std::vector<int>& args) {
    switch (op) {
        case KernelOp::Neg: {
            LinearForm x = linear_of(args[0]);
            for (auto& t : x.terms) t.second = -t.second;
            x.constant = -x.constant;
            return from_linear(std::move(x));
        }
        case KernelOp::Add:
        case KernelOp::Sub: {
            const int64_t sign = op == KernelOp::Add ? 1 : -1;
            LinearForm x = linear_of(args[0]), y = linear_of(args[1]), out;
            out.constant = x.constant + sign * y.constant;
            size_t i = 0, j = 0;
            while (i < x.terms.size() || j < y.terms.size()) {
                const bool left = j == y.terms.size() ||
                                  (i < x.terms.size() && x.terms[i].first <= y.terms[j].first);
                const bool both =
                    left && j < y.terms.size() && x.terms[i].first == y.terms[j].first;
                if (both)
                    out.terms.emplace_back(x.terms[i].first,
                                           x.terms[i].second + sign * y.terms[j].second);
                else if (left)
                    out.terms.push_back(x.terms[i]);
                else
                    out.terms.emplace_back(y.terms[j].first, sign * y.terms[j].second);
                i += left;
                j += both || !left;
            }
            return from_linear(std::move(out));
        }
        case KernelOp::Mul: return product(args[0], args[1]);
        case KernelOp::Div: return divide(args[0], args[1], false);
        case KernelOp::Mod: return divide(args[0], args[1], true);
        case KernelOp::Min:
            if (proved_less_equal(args[0], args[1])) return args[0];
            if (proved_less_equal(args[1], args[0])) return args[1];
            return -1;
        case KernelOp::Max:
            if (proved_less_equal(args[0], args[1])) return args[1];
            if (proved_less_equal(args[1], args[0])) return args[0];
            return -1;
        case KernelOp::Abs:
            if (node(args[0]).interval.lo >= 0) return args[0];
            return -1;
        default: return -1;
    }
}

}  // namespace firn
