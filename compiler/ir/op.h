// The operations, from the one table in ops.def.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace firn {

enum class Op : uint8_t {
#define OP(name, arity, result, glsl, properties) name,
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
    kMedium = 128,  // about 8 simple operations
    kCostly = 256,  // about 30 simple operations
};

/// How the result's dtype follows from the inputs; see ops.def.
enum class ResultRule : uint8_t { Same, Bool, Float, Int, Given, None };

struct OpInfo {
    const char* name;
    int arity;
    ResultRule result;
    const char* glsl;
    uint32_t properties;
};
const OpInfo& info(Op op);
inline bool is_elementwise(Op op) { return info(op).properties & kElementwise; }
inline bool is_movement(Op op) { return info(op).properties & kMovement; }
/// Cost of one evaluation in simple operations.
double operation_cost(Op op);
/// The operation by its name (`Add`); nothing where there is none.
std::optional<Op> find_op(std::string_view name);
inline constexpr int kOpCount = 0
#define OP(name, arity, result, glsl, properties) +1
#include "compiler/ir/ops.def"
#undef OP
    ;

}  // namespace firn
