// Small expressions such as `Add(x, Neg(y))`: matched against nodes, and built from the nodes that
// they bound.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// A variable (`x`, `y`, `z` match anything, `c`, `d` only constants; equal names match one node),
/// a literal (`1`, `-0.0`, `inf`, `true`: a constant of that value in any dtype, repeated to any
/// shape), or an elementwise operation by its name.
struct Pattern {
    enum class Kind : uint8_t { Variable, Literal, Operation };
    Kind kind = Kind::Variable;
    char variable = 'x';
    double literal = 0;
    Op op = Op::Add;
    std::vector<Pattern> inputs;
};
/// Throws InternalError at text that is no pattern: patterns are written in the sources.
Pattern parse_pattern(std::string_view text);

using Bindings = std::array<Ref, 26>;

/// The value of a Constant, also through the Expand that gives it a shape.
std::optional<Scalar> constant_value(const Node& node);
/// Commutative operations match in both orders of their inputs.
bool match(const Pattern& pattern, const Ref& node, Bindings& bindings);
/// The node that `pattern` stands for; `make` builds an elementwise node of inputs, of which those
/// marked weak are literals.
using MakeElementwise =
    std::function<Ref(Op op, const std::vector<Ref>& inputs, const std::vector<bool>& weak)>;
Ref build(const Pattern& pattern, const Bindings& bindings, const MakeElementwise& make,
          const std::function<Ref(double)>& make_literal);

}  // namespace firn
