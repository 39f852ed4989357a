// Values that the host can compute, as sizes.
#include "compiler/ir/host_size.h"

#include "compiler/ir/affine_index.h"
#include "compiler/program/program.h"

namespace firn {
namespace {

constexpr size_t kHostSteps = 200;  // nodes of a number that are followed
constexpr int kHostAtoms = 16;  // symbols and the like in a number: bounds of larger ones take time

/// Each node is followed once, however often the number has it.
class HostSizes {
  public:
    explicit HostSizes(const std::unordered_map<const Node*, Size>& inductions)
        : inductions_(inductions) {}

    std::optional<Size> of(const Node& node) {
        if (auto it = inductions_.find(&node); it != inductions_.end()) return it->second;
        if (auto it = known_.find(&node); it != known_.end()) return it->second;
        if (known_.size() >= kHostSteps) return std::nullopt;
        known_[&node] = std::nullopt;
        std::optional<Size> out = find(node);
        // A size that the user wrote stays one, however long it is.
        const bool may_be_long = node.op == Op::SizeValue;
        if (out && ((!may_be_long && out->atoms() > kHostAtoms) || !has_i32_factors(*out)))
            out.reset();  // factors beyond wrap around
        return known_[&node] = out;
    }

  private:
    std::optional<Size> find(const Node& node) {
        auto input = [&](size_t k) { return of(*node.inputs[k]); };
        auto both = [&](auto combine) -> std::optional<Size> {
            const auto a = input(0), b = input(1);
            if (!a || !b) return std::nullopt;
            return combine(*a, *b);
        };
        switch (node.op) {
            case Op::Constant:
                if (node.dtype.is_float()) return std::nullopt;
                return Size(node.as<ConstantAttr>().value.i);
            case Op::SizeValue: return node.as<SizeAttr>().size;
            case Op::Input:
                if (!node.as<InputAttr>().scalar || node.dtype != i32) return std::nullopt;
                return Size::symbol(scalar_symbol(node.as<InputAttr>().index));
            case Op::Cast:
                if (node.dtype != i32 || node.inputs[0]->dtype.is_float()) return std::nullopt;
                return input(0);
            case Op::Add: return both([](const Size& a, const Size& b) { return a + b; });
            case Op::Sub: return both([](const Size& a, const Size& b) { return a - b; });
            case Op::Mul: return both([](const Size& a, const Size& b) { return a * b; });
            case Op::Min: return both([](const Size& a, const Size& b) { return min(a, b); });
            case Op::Max: return both([](const Size& a, const Size& b) { return max(a, b); });
            case Op::Div: {
                const auto a = input(0), b = input(1);
                if (!a || !b || a->lower_bound() < 0 || b->lower_bound() <= 0) return std::nullopt;
                return floor_div(*a, *b);
            }
            case Op::Neg: {
                const auto a = input(0);
                if (!a) return std::nullopt;
                return Size(0) - *a;
            }
            default: return std::nullopt;
        }
    }

    const std::unordered_map<const Node*, Size>& inductions_;
    std::unordered_map<const Node*, std::optional<Size>> known_;
};

}  // namespace

std::optional<Size> host_size(const Node& node,
                              const std::unordered_map<const Node*, Size>& inductions) {
    return HostSizes(inductions).of(node);
}

bool is_number(const Node& node, int64_t value) {
    return node.op == Op::Constant && node.as<ConstantAttr>().value.i == value;
}

}  // namespace firn
