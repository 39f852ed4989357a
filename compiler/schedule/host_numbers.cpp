// Chooses the values that the host computes.
#include "compiler/schedule/host_numbers.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/ir/host_op.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

class Finder {
  public:
    explicit Finder(const RegionFacts& regions) : regions_(regions) {
        out_.inductions = host_inductions(regions);
        for (const auto& [arg, symbol] : out_.inductions) args_[symbol.symbols()[0]] = arg;
    }

    HostNumbers run() {
        for (const Ref& ref : regions_.order) {
            const Node& node = *ref;
            if (!node.shape.empty() || node.dtype != f32) continue;
            const std::optional<HostScalar> scalar = scalar_of(node);
            if (!scalar) continue;
            double cost = operation_cost(node.op);
            for (int operand : {scalar->a, scalar->b})
                if (operand >= 0) cost += cost_[static_cast<size_t>(operand)];
            known_[&node] = add(*scalar, cost);
            if (scalar->a >= 0 && cost >= costs::kLeastHostOperations)
                out_.place[&node] = known_[&node];
        }
        drop_unneeded();
        return std::move(out_);
    }

  private:
    /// Keeps the expensive numbers and those they are computed from.
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

    /// Returns the scalar for an integer converted to a float.
    std::optional<HostScalar> cast_of(const Node& from) const {
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
        const std::optional<Size> size =
            wraps(from, costs::kMostIntegerDepth) ? host_size(from, out_.inductions) : std::nullopt;
        if (!size || !known_to_steps(*size)) return std::nullopt;
        out.op = HostOp::Size, out.size = *size;
        return out;
    }

    /// True if a size gives the same as the node although its integers are longer.
    static bool wraps(const Node& node, int depth) {
        switch (node.op) {
            case Op::Constant:
            case Op::SizeValue:
            case Op::RegionArg: return true;
            case Op::Add:
            case Op::Sub:
            case Op::Mul:
            case Op::Neg:
                return depth > 0 && node.dtype == i32 &&
                       std::all_of(node.inputs.begin(), node.inputs.end(),
                                   [&](const Ref& input) { return wraps(*input, depth - 1); });
            default: return false;
        }
    }

    /// True if the host knows the size when a call begins, except for iterations of loops of steps
    /// whose trip count it knows then. Integer arguments are excluded (they are separate numbers),
    /// and so is what only the device knows.
    bool known_to_steps(const Size& size) const {
        if (!data_symbols(size).empty()) return false;
        for (const std::string& symbol : size.symbols()) {
            if (symbol[0] != '$') continue;
            const auto arg = args_.find(symbol);
            if (arg == args_.end()) return false;
            const Node& loop = *regions_.arg_owner.at(arg->second);
            const auto begin = host_size(*loop.inputs[0], out_.inductions);
            if (loop.as<LoopAttr>().open || !begin || !known_to_steps(*begin)) return false;
        }
        return true;
    }

    const RegionFacts& regions_;
    std::unordered_map<std::string, const Node*> args_;  // by the symbols of inductions
    HostNumbers out_;
    std::vector<double> cost_;                    // operations, by place
    std::unordered_map<const Node*, int> known_;  // places
};

}  // namespace

HostNumbers host_numbers(const RegionFacts& regions) { return Finder(regions).run(); }

bool known_to_host(const HostNumbers& numbers, const Node& node) {
    if (numbers.place.contains(&node)) return true;
    return node.shape.empty() && node.dtype == i32 &&
           host_size(node, numbers.inductions).has_value();
}

}  // namespace firn
