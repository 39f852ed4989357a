// Bounds of integer values that follow from the graph.
#include "compiler/ir/value_bounds.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "compiler/ir/affine_index.h"

namespace firn {
namespace {

constexpr int kBoundSteps = 200;  // nodes that are followed

class Bounder {
  public:
    Bounder(const SymbolFacts& facts, const CountedBy& loops) : facts_(facts), loops_(loops) {}

    Interval of(const Node& node) {
        if (node.dtype.is_bool()) return {0, 1};
        if (node.dtype != i32) return kAnyI32;
        if (auto it = known_.find(&node); it != known_.end()) return it->second;
        if (known_.size() >= kBoundSteps) return kAnyI32;
        known_[&node] = kAnyI32;
        const Interval out = find(node);
        return known_[&node] = contains(kAnyI32, out) ? out : kAnyI32;
    }

  private:
    Interval find(const Node& node) {
        auto input = [&](size_t k) { return of(*node.inputs[k]); };
        switch (node.op) {
            case Op::Constant:
                return {node.as<ConstantAttr>().value.i, node.as<ConstantAttr>().value.i};
            case Op::SizeValue: {
                const Size& size = node.as<SizeAttr>().size;
                return {size.lower_bound(), size.upper_bound(facts_.largest)};
            }
            case Op::Index: {
                const Size& extent = node.shape[static_cast<size_t>(node.as<IndexAttr>().axis)];
                return {0, std::max<int64_t>(0, extent.upper_bound(facts_.largest) - 1)};
            }
            case Op::Reshape:
            case Op::Permute:
            case Op::Expand:
            case Op::Slice: return input(0);
            case Op::Pad: {
                const int64_t outside = node.as<PadAttr>().value.i;
                return join(input(0), {outside, outside});
            }
            case Op::Gather: {
                // A read of an empty tensor gives 0.
                const int64_t outside = node.as<GatherAttr>().fill.i;
                return join(join(input(0), {outside, outside}), {0, 0});
            }
            case Op::RegionArg: return counted(node);
            case Op::Sub: {
                const Interval all = interval_of(node.op, std::array{input(0), input(1)});
                return {std::max(all.lo, least_difference(node)), all.hi};
            }
            default: break;
        }
        if (!is_elementwise(node.op)) return kAnyI32;
        std::vector<Interval> inputs;
        for (const Ref& input : node.inputs) inputs.push_back(of(*input));
        return interval_of(node.op, inputs);
    }

    /// The loop that counts by the node, upwards by a step that is known; null: none.
    const Node* counting(const Node& node) {
        const auto it = loops_.find(&node);
        if (it == loops_.end()) return nullptr;
        const Interval step = of(*it->second->inputs[2]);
        return step.lo == step.hi && step.lo > 0 ? it->second : nullptr;
    }

    Interval counted(const Node& node) {
        const Node* loop = counting(node);
        if (!loop) return kAnyI32;
        const Interval begin = of(*loop->inputs[0]), end = of(*loop->inputs[1]);
        return {begin.lo, std::max(begin.lo, end.hi - 1)};
    }

    /// a - i from 1 - c on, where i counts up to end = a + c.
    int64_t least_difference(const Node& difference) {
        const Node &a = without_expand(*difference.inputs[0]),
                   &i = without_expand(*difference.inputs[1]);
        const Node* loop = counting(i);
        if (!loop) return INT64_MIN;
        const Node& end = *loop->inputs[1];
        if (&end == &a) return 1;
        if (end.op != Op::Add || !contains(kAnyI32, of(*end.inputs[0]) + of(*end.inputs[1])))
            return INT64_MIN;
        for (size_t k : {0, 1})
            if (end.inputs[k].get() == &a) return 1 - of(*end.inputs[1 - k]).hi;
        return INT64_MIN;
    }

    const SymbolFacts& facts_;
    const CountedBy& loops_;
    std::unordered_map<const Node*, Interval> known_;
};

}  // namespace

namespace {

/// Bounds of a bitwise and in two's complement: at most its operand that is not negative.
Interval masked(const Interval& a, const Interval& b) {
    if (a.lo < 0 && b.lo < 0) return kAnyI32;
    if (a.lo < 0 || b.lo < 0) return {0, a.lo < 0 ? b.hi : a.hi};
    return {0, std::min(a.hi, b.hi)};
}

}  // namespace

Interval interval_of(Op op, std::span<const Interval> of) {
    const auto unsigned_from = [&](int64_t least) { return of[0].lo >= 0 && of[1].lo >= least; };
    switch (op) {
        case Op::Cast: return of[0];
        case Op::Neg: return -of[0];
        case Op::Add: return of[0] + of[1];
        case Op::Sub: return of[0] - of[1];
        case Op::Mul: return of[0] * of[1];
        case Op::Min: return min(of[0], of[1]);
        case Op::Max: return max(of[0], of[1]);
        case Op::Select: return join(of[1], of[2]);
        case Op::Div: return unsigned_from(1) ? floor_div(of[0], of[1]) : kAnyI32;
        case Op::Mod: return unsigned_from(1) ? mod(of[0], of[1]) : kAnyI32;
        case Op::And: return masked(of[0], of[1]);
        case Op::ShiftRight: return of[0].lo >= 0 ? Interval{0, of[0].hi} : kAnyI32;
        default: return kAnyI32;
    }
}

Interval value_bounds(const Node& node, const SymbolFacts& facts) {
    return Bounder(facts, {}).of(node);
}

Interval value_bounds(const Node& node, const SymbolFacts& facts, const CountedBy& loops) {
    return Bounder(facts, loops).of(node);
}

CountedBy counting_loops(const std::vector<Ref>& results) {
    CountedBy out;
    for (const Ref& node : topological(results))
        if (node->op == Op::Loop) out[node->as<LoopAttr>().body->args[0].get()] = node.get();
    return out;
}

}  // namespace firn
