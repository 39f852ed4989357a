// Which values the host computes once per call.
#include <optional>

#include "compiler/schedule/schedule.h"

namespace firn {
namespace {

constexpr double kLeastOperations = 8;   // that are worth a parameter

std::optional<HostOp> host_op(Op op) {
    switch (op) {
        case Op::Neg: return HostOp::Neg;
        case Op::Abs: return HostOp::Abs;
        case Op::Floor: return HostOp::Floor;
        case Op::Sqrt: return HostOp::Sqrt;
        case Op::Rsqrt: return HostOp::Rsqrt;
        case Op::Rcp: return HostOp::Rcp;
        case Op::Exp: return HostOp::Exp;
        case Op::Exp2: return HostOp::Exp2;
        case Op::Log: return HostOp::Log;
        case Op::Log2: return HostOp::Log2;
        case Op::Sin: return HostOp::Sin;
        case Op::Cos: return HostOp::Cos;
        case Op::Tan: return HostOp::Tan;
        case Op::Tanh: return HostOp::Tanh;
        case Op::Add: return HostOp::Add;
        case Op::Sub: return HostOp::Sub;
        case Op::Mul: return HostOp::Mul;
        case Op::Div: return HostOp::Div;
        case Op::Min: return HostOp::Min;
        case Op::Max: return HostOp::Max;
        case Op::Pow: return HostOp::Pow;
        default: return std::nullopt;
    }
}

/// What the host knows when a call begins: not what it counts in loops, nor what only the device knows.
bool known_at_call(const Size& size) {
    if (!data_symbols(size).empty()) return false;
    for (const std::string& symbol : size.symbols())
        if (symbol[0] == '$') return false;
    return true;
}

class Finder {
  public:
    HostNumbers run(const std::vector<Ref>& order) {
        for (const Ref& ref : order) {
            const Node& node = *ref;
            if (!node.shape.empty() || node.dtype != f32) continue;
            const std::optional<HostScalar> scalar = scalar_of(node);
            if (!scalar) continue;
            double cost = operation_cost(node.op);
            for (int operand : {scalar->a, scalar->b})
                if (operand >= 0) cost += cost_[static_cast<size_t>(operand)];
            known_[&node] = add(*scalar, cost);
            if (scalar->a >= 0 && cost >= kLeastOperations) out_.place[&node] = known_[&node];
        }
        drop_unneeded();
        return std::move(out_);
    }

  private:
    /// Keeps the dear ones and what they are made of.
    void drop_unneeded() {
        std::vector<bool> needed(out_.scalars.size());
        for (const auto& [node, place] : out_.place) needed[static_cast<size_t>(place)] = true;
        for (size_t k = needed.size(); k-- > 0;)
            for (int operand : {out_.scalars[k].a, out_.scalars[k].b})
                if (needed[k] && operand >= 0) needed[static_cast<size_t>(operand)] = true;
        std::vector<HostScalar> kept;
        std::vector<int> place(needed.size(), -1);
        for (size_t k = 0; k < needed.size(); ++k) {
            if (!needed[k]) continue;
            place[k] = static_cast<int>(kept.size());
            kept.push_back(out_.scalars[k]);
            for (int* operand : {&kept.back().a, &kept.back().b})
                if (*operand >= 0) *operand = place[static_cast<size_t>(*operand)];
        }
        for (auto& [node, at] : out_.place) at = place[static_cast<size_t>(at)];
        out_.scalars = std::move(kept);
    }

    int add(const HostScalar& scalar, double cost) {
        out_.scalars.push_back(scalar);
        cost_.push_back(cost);
        return static_cast<int>(out_.scalars.size()) - 1;
    }

    std::optional<HostScalar> scalar_of(const Node& node) const {
        HostScalar out;
        switch (node.op) {
            case Op::Constant: out.constant = node.as<ConstantAttr>().value.f; return out;
            case Op::Input:
                if (!node.as<InputAttr>().scalar) return std::nullopt;
                out.op = HostOp::Argument, out.argument = node.as<InputAttr>().index;
                return out;
            case Op::Cast: return cast_of(*node.inputs[0]);
            default: break;
        }
        const std::optional<HostOp> op = host_op(node.op);
        if (!op) return std::nullopt;
        out.op = *op;
        for (size_t k = 0; k < node.inputs.size(); ++k) {
            const auto operand = known_.find(node.inputs[k].get());
            if (operand == known_.end()) return std::nullopt;
            (k == 0 ? out.a : out.b) = operand->second;
        }
        return out;
    }

    /// An integer as a float.
    static std::optional<HostScalar> cast_of(const Node& from) {
        HostScalar out;
        if (!from.shape.empty() || from.dtype != i32) return std::nullopt;
        if (from.op == Op::Constant) {
            out.constant = from.as<ConstantAttr>().value.to(f32).f;
            return out;
        }
        if (from.op == Op::Input && from.as<InputAttr>().scalar) {
            out.op = HostOp::Argument, out.argument = from.as<InputAttr>().index;
            return out;
        }
        if (from.op != Op::SizeValue || !known_at_call(from.as<SizeAttr>().size)) return std::nullopt;
        out.op = HostOp::Size, out.size = from.as<SizeAttr>().size;
        return out;
    }

    HostNumbers out_;
    std::vector<double> cost_;                      // operations, by place
    std::unordered_map<const Node*, int> known_;    // places
};

}  // namespace

HostNumbers host_numbers(const std::vector<Ref>& order) { return Finder().run(order); }

}  // namespace firn
