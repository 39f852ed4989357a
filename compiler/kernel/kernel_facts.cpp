// Facts of a node of Kernel code: what it depends on, and its bounds as numbers and as sizes of a
// call.
#include "compiler/kernel/kernel_facts.h"

#include <algorithm>
#include <iterator>

#include "compiler/base/error.h"
#include "compiler/ir/value_bounds.h"

namespace firn {
namespace {

std::vector<RangeId> merge(const std::vector<RangeId>& a, const std::vector<RangeId>& b) {
    if (b.empty()) return a;
    std::vector<RangeId> out;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
    return out;
}

/// The ranges that a body depends on, but for its own.
std::vector<RangeId> ranges_of_body(const KernelCode& code, const ByNode<NodeFacts>& known,
                                    const KernelRegion& region) {
    std::vector<RangeId> inside;
    for (NodeId y : region.yields) inside = merge(inside, known[y].ranges);
    for (NodeId e : region.effects) inside = merge(inside, known[e].ranges);
    if (region.alive) inside = merge(inside, known[region.alive].ranges);
    if (!region.range) return inside;
    std::erase(inside, region.range);
    const NodeId extent = code[region.range].extent_node;
    return extent ? merge(inside, known[extent].ranges) : inside;
}

std::vector<RangeId> ranges_of(const KernelCode& code, const ByNode<NodeFacts>& known,
                               const KernelNode& n) {
    if (const auto* range = n.get_if<RangeId>()) return {*range};
    if (const auto* carried = n.get_if<CarriedAttr>()) return {code[carried->region].range};
    std::vector<RangeId> ranges;
    for (NodeId arg : n.args) ranges = merge(ranges, known[arg].ranges);
    for (RegionId body : bodies(n)) ranges = merge(ranges, ranges_of_body(code, known, code[body]));
    return ranges;
}

Congruence congruence_of(const KernelCode& code, const KernelNode& n) {
    auto of = [&](size_t k) -> const Congruence& { return code[n.args[k]].congruence; };
    switch (n.op) {
        case KernelOp::Add: return of(0) + of(1);
        case KernelOp::Mul: return of(0) * of(1);
        case KernelOp::Min:
        case KernelOp::Max: return join(of(0), of(1));
        case KernelOp::Select: return join(of(1), of(2));
        default: return {};
    }
}

bool bounded(const NodeFacts& a) { return a.lo && a.hi; }

/// `constant`: b is one.
void bound_product(const NodeFacts& a, const NodeFacts& b, const Scalar* constant, NodeFacts& f) {
    if (!bounded(a) || !bounded(b)) return;
    if (constant && constant->i < 0)
        f.lo = *a.hi * *b.lo, f.hi = *a.lo * *b.lo;
    else if ((a.lo->lower_bound() >= 0 && b.lo->lower_bound() >= 0) || constant)
        f.lo = *a.lo * *b.lo, f.hi = *a.hi * *b.hi;
}

void bound_least(const NodeFacts& a, const NodeFacts& b, bool least, NodeFacts& f) {
    auto& strict = least ? f.hi : f.lo;
    auto& loose = least ? f.lo : f.hi;
    auto strict_of = [&](const NodeFacts& of) { return least ? of.hi : of.lo; };
    // The bound on the clamped side is either operand's; prefer the one without ranges.
    const NodeFacts &first = a.ranges.empty() ? a : b, &second = a.ranges.empty() ? b : a;
    strict = strict_of(first) ? strict_of(first) : strict_of(second);
    const std::optional<Size>&x = least ? a.lo : a.hi, &y = least ? b.lo : b.hi;
    if (!x || !y) return;
    const bool x_is_less = proved_less_equal(*x, *y), y_is_less = proved_less_equal(*y, *x);
    if (x_is_less)
        loose = least ? x : y;
    else if (y_is_less)
        loose = least ? y : x;
    else
        loose = least ? min(*x, *y) : max(*x, *y);
}

void bound_quotient(const NodeFacts& a, const NodeFacts& b, bool remainder, NodeFacts& f) {
    if (!bounded(a) || a.lo->lower_bound() < 0 || !bounded(b) || *b.lo != *b.hi) return;
    const Size& by = *b.lo;
    if (by.is_constant() && by.constant() > 0) {
        f.lo = remainder ? Size(0) : floor_div(*a.lo, by);
        f.hi = remainder ? by - Size(1) : floor_div(*a.hi, by);
    } else if (by.lower_bound() >= 0) {
        f.lo = Size(0);  // by a symbolic size: x / 0 and x % 0 are 0
        f.hi = remainder ? max(by - Size(1), Size(0)) : *a.hi;
    }
}

/// Bounds an elementwise i32 node.
void bound_elementwise(const KernelCode& code, const ByNode<NodeFacts>& known, const KernelNode& n,
                       NodeFacts& f) {
    auto of = [&](int k) -> const NodeFacts& { return known[n.args[k]]; };
    switch (n.op) {
        case KernelOp::Add:
            if (bounded(of(0)) && bounded(of(1)))
                f.lo = *of(0).lo + *of(1).lo, f.hi = *of(0).hi + *of(1).hi;
            break;
        case KernelOp::Mul: bound_product(of(0), of(1), code[n.args[1]].get_if<Scalar>(), f); break;
        case KernelOp::Min:
        case KernelOp::Max: bound_least(of(0), of(1), n.op == KernelOp::Min, f); break;
        case KernelOp::Div:
        case KernelOp::Mod: bound_quotient(of(0), of(1), n.op == KernelOp::Mod, f); break;
        case KernelOp::Select:
            if (!bounded(of(1)) || !bounded(of(2))) break;
            if (*of(1).lo == *of(2).lo) f.lo = of(1).lo;
            if (*of(1).hi == *of(2).hi) f.hi = of(1).hi;
            break;
        default: break;
    }
}

/// The i32 may wrap around: its bounds are beyond 32 bits at sizes that the facts allow. Sizes of
/// which nothing is known are those of tensors in memory, or were checked.
bool may_wrap(const KernelNode& n, const NodeFacts& f, const SymbolFacts& symbols) {
    if (!f.lo || !f.hi || n.interval.lo != INT32_MIN || n.interval.hi != INT32_MAX) return false;
    for (const Size& bound : {*f.lo, *f.hi})
        for (const std::string& symbol : bound.symbols())
            if (!symbols.largest.contains(symbol)) return false;
    return f.lo->lower_bound() < INT32_MIN || f.hi->upper_bound(symbols.largest) > INT32_MAX;
}

}  // namespace

bool has_bounds(const KernelNode& n) {
    return n.dtype == i32 &&
           (is_elementwise(n.op) || n.op == KernelOp::Constant || n.op == KernelOp::Param);
}

void bound(const KernelCode& code, KernelNode& n) {
    std::vector<Interval> inputs;
    for (NodeId arg : n.args) {
        const KernelNode& input = code[arg];
        inputs.push_back(input.dtype.is_bool() ? Interval{0, 1} : input.interval);
    }
    n.interval = interval_of(graph_op(n.op), inputs);
    n.congruence = congruence_of(code, n);
    if (contains(kAnyI32, n.interval)) return;
    n.interval = kAnyI32;
    n.congruence = wrapped(n.congruence);
}

NodeFacts facts_of(const KernelCode& code, const ByNode<NodeFacts>& known,
                   const SymbolFacts& symbols, NodeId id) {
    const KernelNode& n = code[id];
    NodeFacts f;
    f.ranges = ranges_of(code, known, n);
    if (const auto* range = n.get_if<RangeId>()) {
        const Range& r = code[*range];
        if (r.kind != RangeKind::Serial || !r.extent_node || !r.extent.is(0)) {
            f.lo = Size(0);
            f.hi = r.extent - Size(1);
        }
    }
    if (!has_bounds(n)) return f;
    if (const auto* value = n.get_if<Scalar>()) f.lo = f.hi = Size(value->i);
    if (const auto* given = n.get_if<ParamAttr>()) {
        const ParamInfo& param = code.params[given->param];
        if (param.scalar < 0) f.lo = f.hi = param.size;
    }
    try {
        bound_elementwise(code, known, n, f);
    } catch (const UserError&) {
        f.lo = f.hi = std::nullopt;  // beyond 64 bits, or with too many terms: no such size occurs
                                     // in a program
    }
    if ((n.op == KernelOp::Add || n.op == KernelOp::Mul) && may_wrap(n, f, symbols))
        f.lo = f.hi = std::nullopt;
    return f;
}

}  // namespace firn
