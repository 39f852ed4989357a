// The operations of the Graph, from the one table in ops.def.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace firn {

enum class Op : uint8_t {
#define OP(name, arity, result, properties) name,
#include "compiler/ir/ops.def"
#undef OP
};

enum OpProperty : uint32_t {
    kElementwise = 1,
    kCommutative = 2,
    kAssociative = 4,
    kLeaf = 8,
    kMovement = 16,
    kRegion = 32,
    kEffect = 64,
    kMedium = 128,    // about 8 simple operations
    kCostly = 256,    // about 30 simple operations
    kCombined = 512,  // replaces several elementwise operations
    kLong = 1024,     // of long text: see body_cost
};

/// The types of operands.
enum OpTypes : uint32_t { kBools = 1, kIntegers = 2, kFloats = 4 };

/// The rule by which the result's dtype follows from the inputs; see ops.def.
enum class ResultRule : uint8_t { Same, Bool, Float, Int, Given, None };

struct OpInfo {
    const char* name;
    int arity;
    ResultRule result;
    uint32_t properties;
    uint32_t types = 0;  // OpTypes of elementwise operations
};
/// The columns of elementwise.def by their short names.
namespace op_table {
inline constexpr ResultRule Same = ResultRule::Same, Bool = ResultRule::Bool,
                            Float = ResultRule::Float, Int = ResultRule::Int,
                            Given = ResultRule::Given, None = ResultRule::None;
inline constexpr uint32_t Integers = kIntegers, Floats = kFloats, Bits = kIntegers | kBools,
                          Numbers = Floats | kIntegers, Any = Numbers | kBools;
}  // namespace op_table
const OpInfo& info(Op op);
inline bool is_elementwise(Op op) { return info(op).properties & kElementwise; }
inline bool is_movement(Op op) { return info(op).properties & kMovement; }
/// Cost of one evaluation in simple operations.
double operation_cost(const OpInfo& row);
inline double operation_cost(Op op) { return operation_cost(info(op)); }
/// Returns the cost for the driver's compiler, in simple operations: at least one.
double body_cost(const OpInfo& row);
/// Checks a row of a table of operations.
constexpr bool is_sound(const OpInfo& row) {
    const bool elementwise = row.properties & (kElementwise | kCombined);
    if ((row.properties & kElementwise) && row.types == 0) return false;
    if (elementwise && (row.arity < 1 || row.arity > 3 || row.result == ResultRule::None))
        return false;
    if ((row.properties & kLeaf) && row.arity != 0) return false;
    if ((row.properties & kMovement) && (row.arity != 1 || row.result != ResultRule::Same))
        return false;
    if ((row.properties & kCommutative) && row.arity != 2) return false;
    if ((row.properties & kEffect) && row.result != ResultRule::None) return false;
    return true;
}
/// The operation by its name (`Add`); nothing where there is none.
std::optional<Op> find_op(std::string_view name);
inline constexpr int kOpCount = 0
#define OP(name, arity, result, properties) +1
#include "compiler/ir/ops.def"
#undef OP
    ;

}  // namespace firn
