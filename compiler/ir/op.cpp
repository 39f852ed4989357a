// The rows of ops.def as data, checked when the compiler is built.
#include "compiler/ir/op.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace firn {
namespace {

using namespace op_table;

constexpr std::array<OpInfo, kOpCount> kOps = {{
#define ELEMENT(name, arity, types, result, properties) {#name, arity, result, properties, types},
#define OP(name, arity, result, properties) {#name, arity, result, properties},
#include "compiler/ir/ops.def"
#undef OP
}};

static_assert(std::all_of(kOps.begin(), kOps.end(), is_sound),
              "a row of ops.def contradicts itself");

}  // namespace

const OpInfo& info(Op op) { return kOps[static_cast<size_t>(op)]; }

double operation_cost(const OpInfo& row) {
    if (row.properties & kCostly) return 30;
    if (row.properties & kMedium) return 8;
    return row.properties & kElementwise ? 1 : 0;
}

// Sines of large arguments have more text than anything else: lavapipe compiles 160 of them in 1.2
// s, as many exponentials in 0.14 s.
double body_cost(const OpInfo& row) {
    return std::max(1.0, operation_cost(row) * (row.properties & kLong ? 2 : 1));
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
