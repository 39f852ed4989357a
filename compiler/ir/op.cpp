// The rows of ops.def as data, checked when the compiler is built.
#include "compiler/ir/op.h"

#include <array>
#include <unordered_map>

namespace firn {
namespace {

// The table speaks of result rules by their short names.
constexpr ResultRule Same = ResultRule::Same, Bool = ResultRule::Bool, Float = ResultRule::Float,
                     Int = ResultRule::Int, Given = ResultRule::Given, None = ResultRule::None;

constexpr std::array<OpInfo, kOpCount> kOps = {{
#define OP(name, arity, result, glsl, properties) {#name, arity, result, glsl, properties},
#include "compiler/ir/ops.def"
#undef OP
}};

constexpr bool rows_are_sound() {
    for (const OpInfo& row : kOps) {
        bool elementwise = row.properties & kElementwise;
        if (elementwise && (row.arity < 1 || row.arity > 3 || row.result == ResultRule::None))
            return false;
        if ((row.properties & kLeaf) && row.arity != 0) return false;
        if ((row.properties & kMovement) && (row.arity != 1 || row.result != ResultRule::Same))
            return false;
        if ((row.properties & kCommutative) && row.arity != 2) return false;
        if ((row.properties & kEffect) && row.result != ResultRule::None) return false;
        if (!elementwise && row.glsl[0] != 0) return false;
    }
    return true;
}
static_assert(rows_are_sound(), "a row of ops.def contradicts itself");

}  // namespace

const OpInfo& info(Op op) { return kOps[static_cast<size_t>(op)]; }

double operation_cost(Op op) {
    uint32_t properties = info(op).properties;
    if (properties & kCostly) return 30;
    if (properties & kMedium) return 8;
    return properties & kElementwise ? 1 : 0;
}

std::optional<Op> find_op(std::string_view name) {
    static const auto names = [] {
        std::unordered_map<std::string_view, Op> map;
        for (size_t k = 0; k < kOps.size(); ++k) map.emplace(kOps[k].name, static_cast<Op>(k));
        return map;
    }();
    auto found = names.find(name);
    if (found == names.end()) return std::nullopt;
    return found->second;
}

}  // namespace firn
