// The rows of simplify: algebra as patterns, and rules about structure as functions.
#pragma once
#include <span>

#include "compiler/ir/builder.h"

namespace firn {

/// The dtypes of the (last) operand that an algebra row holds for. Few of the laws of integers hold
/// for floats: nan, infinities and the sign of zero must come out the same.
enum class RuleTypes : uint8_t { Any, Signed, Integer, Float, Bool, IntegerOrBool };
bool holds_for(RuleTypes types, DType dtype);

struct AlgebraRow {
    const char* name;
    RuleTypes types;
    const char* pattern;
    const char* replacement;
};
std::span<const AlgebraRow> algebra_rows();

/// The replacement of a node with this operation, null where the rule does not apply. It computes
/// the same values and has the same dtype and shape.
struct StructureRow {
    const char* name;
    Op op;
    Ref (*apply)(const Builder& b, const Node& node);
};
std::span<const StructureRow> structure_rows();

/// Returns the results of a loop that runs once: those of its body, computed in its place; empty:
/// it is no such loop. All of them together, because a loop in the copied body is another loop.
std::vector<Ref> results_of_one_iteration(const Builder& b, const Node& loop);

/// The sum of where(index == e, x, 0) along the index's axis, where e does not vary: x at e.
Ref sum_of_one_choice(const Builder& b, const Node& node);

}  // namespace firn
