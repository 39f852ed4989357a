// What a graph tells of an integer value's size.
#include "compiler/ir/value_bounds.h"

#include <algorithm>
#include <unordered_map>

namespace firn {
namespace {

constexpr int kSteps = 200;  // nodes that are followed

class Bounder {
  public:
    explicit Bounder(const SymbolFacts& facts) : facts_(facts) {}

    ValueBounds of(const Node& node) {
        if (node.dtype.is_bool()) return {0, 1};
        if (node.dtype != i32) return {};
        if (auto it = known_.find(&node); it != known_.end()) return it->second;
        if (known_.size() >= kSteps) return {};
        known_[&node] = {};
        ValueBounds out = find(node);
        if (out.lo < INT32_MIN || out.hi > INT32_MAX) out = {};  // it may wrap around
        return known_[&node] = out;
    }

  private:
    static ValueBounds join(const ValueBounds& a, const ValueBounds& b) {
        return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
    }

    static ValueBounds product(const ValueBounds& a, const ValueBounds& b) {
        const int64_t corners[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
        return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
    }

    ValueBounds find(const Node& node) {
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
            case Op::Cast: return input(0);
            case Op::Neg: return {-input(0).hi, -input(0).lo};
            case Op::Add: return {input(0).lo + input(1).lo, input(0).hi + input(1).hi};
            case Op::Sub: return {input(0).lo - input(1).hi, input(0).hi - input(1).lo};
            case Op::Mul: return product(input(0), input(1));
            case Op::Min:
                return {std::min(input(0).lo, input(1).lo), std::min(input(0).hi, input(1).hi)};
            case Op::Max:
                return {std::max(input(0).lo, input(1).lo), std::max(input(0).hi, input(1).hi)};
            case Op::Select: return join(input(1), input(2));
            case Op::Div:
                if (input(0).lo < 0 || input(1).lo < 1) return {};
                return {input(0).lo / input(1).hi, input(0).hi / input(1).lo};
            case Op::Mod:
                if (input(0).lo < 0 || input(1).lo < 1) return {};
                return {0, std::min(input(0).hi, input(1).hi - 1)};
            case Op::Reshape:
            case Op::Permute:
            case Op::Expand:
            case Op::Slice: return input(0);
            case Op::Pad: {
                const int64_t outside = node.as<PadAttr>().value.i;
                return join(input(0), {outside, outside});
            }
            case Op::Gather: {
                // What is read of an empty tensor is 0.
                const int64_t outside = node.as<GatherAttr>().fill.i;
                return join(join(input(0), {outside, outside}), {0, 0});
            }
            default: return {};
        }
    }

    const SymbolFacts& facts_;
    std::unordered_map<const Node*, ValueBounds> known_;
};

}  // namespace

ValueBounds value_bounds(const Node& node, const SymbolFacts& facts) {
    return Bounder(facts).of(node);
}

}  // namespace firn
