// Rules about casts, movement and regions that no elementwise pattern can say.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "compiler/ir/joined_parts.h"
#include "compiler/ir/pattern.h"
#include "compiler/ir/substitute.h"
#include "compiler/passes/rules.h"

namespace firn {
namespace {

/// True if every size is 1: one element of any rank.
bool is_single(const Node& node) {
    for (const Size& size : node.shape)
        if (!size.is(1)) return false;
    return true;
}

/// Returns the single element that `node` repeats, null if it is no such Expand.
Ref repeated_single(const Node& node) {
    if (node.op != Op::Expand || !is_single(*node.inputs[0])) return nullptr;
    return node.inputs[0];
}

// --- elementwise ---------------------------------------------------------------------------------

/// Bits that an integer type's values need, sign apart; floats: bits of the mantissa.
int digits(DType dtype) {
    switch (dtype.type) {
        case Type::F16: return 11;
        case Type::BF16: return 8;
        case Type::F32: return 24;
        case Type::F64: return 53;
        default: return dtype.is_bool() ? 1 : 8 * dtype.bytes() - dtype.is_signed();
    }
}

/// Every value of `from` is a value of `to`.
bool holds(DType to, DType from) {
    if (to == from) return true;
    if (to.is_bool() || (from.is_float() && !to.is_float())) return false;
    if (from.is_signed() && !to.is_signed()) return false;
    if (to == f16 && from == bf16) return false;  // f16 lacks exponents of bf16
    return digits(to) >= digits(from);
}

Ref cast_of_cast(const Builder& b, const Node& node) {
    const Node& inner = *node.inputs[0];
    if (inner.op != Op::Cast) return nullptr;
    const Ref& x = inner.inputs[0];
    DType from = x->dtype, between = inner.dtype, to = node.dtype;
    if (!holds(between, from)) return nullptr;
    // An integer outside the range wraps, a float outside it saturates: both only where none is.
    bool by_float = between.is_float() && !from.is_float() && !to.is_float() && !to.is_bool();
    if (by_float && !holds(to, from)) return nullptr;
    return cast(b, x, to);
}

Ref bitcast_of_bitcast(const Builder& b, const Node& node) {
    if (node.inputs[0]->op != Op::Bitcast) return nullptr;
    return bitcast(b, node.inputs[0]->inputs[0], node.dtype);
}

/// Exact, because the reciprocal is a power of two itself, and neither is subnormal.
Ref division_by_power_of_two(const Builder& b, const Node& node) {
    std::optional<Scalar> divisor = constant_value(*node.inputs[1]);
    if (!node.dtype.is_float() || !divisor || divisor->f == 1) return nullptr;
    int exponent = 0;
    double smallest = node.dtype == f16   ? std::ldexp(1.0, -14)
                      : node.dtype == f64 ? std::numeric_limits<double>::min()
                                          : double{std::numeric_limits<float>::min()};
    double reciprocal = 1 / divisor->f;
    if (std::fabs(std::frexp(divisor->f, &exponent)) != 0.5 || std::fabs(divisor->f) < smallest ||
        std::fabs(reciprocal) < smallest || scalar_float(reciprocal, node.dtype).f != reciprocal)
        return nullptr;
    return elementwise(b, Op::Mul, {node.inputs[0], constant_float(b, reciprocal, node.dtype)});
}

// --- movement ------------------------------------------------------------------------------------

Ref single_moved(const Builder& b, const Node& node) {
    Ref single = repeated_single(*node.inputs[0]);
    if (!single) return nullptr;
    if (single->op == Op::Reshape) single = single->inputs[0];
    return expand(b, reshape(b, single, {}), node.shape);
}

Ref reshape_of_reshape(const Builder& b, const Node& node) {
    if (node.inputs[0]->op != Op::Reshape) return nullptr;
    return reshape(b, node.inputs[0]->inputs[0], node.shape);
}

Ref permute_of_permute(const Builder& b, const Node& node) {
    const Node& inner = *node.inputs[0];
    if (inner.op != Op::Permute) return nullptr;
    std::vector<int> axes;
    for (int axis : node.as<PermuteAttr>().axes)
        axes.push_back(inner.as<PermuteAttr>().axes[static_cast<size_t>(axis)]);
    return permute(b, inner.inputs[0], axes);
}

Ref expand_of_expand(const Builder& b, const Node& node) {
    if (node.inputs[0]->op != Op::Expand) return nullptr;
    return expand(b, node.inputs[0]->inputs[0], node.shape);
}

/// One element needs no shape of its own to be repeated.
Ref expand_of_reshaped(const Builder& b, const Node& node) {
    const Node& inner = *node.inputs[0];
    if (inner.op != Op::Reshape || !is_single(*inner.inputs[0])) return nullptr;
    const Ref single = reshape(b, inner.inputs[0], {});
    return single == node.inputs[0] ? nullptr : expand(b, single, node.shape);
}

Ref slice_of_slice(const Builder& b, const Node& node) {
    const Node& inner = *node.inputs[0];
    if (inner.op != Op::Slice) return nullptr;
    SliceAttr outer_attr = node.as<SliceAttr>();
    const auto& inner_attr = inner.as<SliceAttr>();
    for (size_t k = 0; k < outer_attr.begin.size(); ++k) {
        outer_attr.begin[k] = inner_attr.begin[k] + Size(inner_attr.step[k]) * outer_attr.begin[k];
        outer_attr.step[k] *= inner_attr.step[k];
    }
    return b.table.intern(Op::Slice, node.dtype, node.shape, {inner.inputs[0]}, outer_attr, b.line);
}

bool all_zero(const std::vector<Size>& sizes) {
    for (const Size& size : sizes)
        if (!size.is(0)) return false;
    return true;
}

/// Movement that leaves every element where it was.
Ref movement_of_nothing(const Builder&, const Node& node) {
    const Ref& x = node.inputs[0];
    if (x->shape != node.shape) return nullptr;
    if (node.op == Op::Pad) return all_zero(node.as<PadAttr>().before) ? x : nullptr;
    if (node.op == Op::Permute) {
        const auto& axes = node.as<PermuteAttr>().axes;
        for (size_t k = 0; k < axes.size(); ++k)
            if (axes[k] != static_cast<int>(k)) return nullptr;
    }
    if (node.op == Op::Slice) {
        if (!all_zero(node.as<SliceAttr>().begin)) return nullptr;
        for (int64_t step : node.as<SliceAttr>().step)
            if (step != 1) return nullptr;
    }
    return x;
}

// --- reads and stores ----------------------------------------------------------------------------

/// The indices from `first` on are those of a tensor's own elements, all of them.
bool indexes_itself(const Node& node, size_t first, const Shape& shape) {
    for (size_t k = first; k < node.inputs.size(); ++k) {
        const Node& index = *node.inputs[k];
        if (index.op != Op::Index || index.shape != shape ||
            index.as<IndexAttr>().axis != static_cast<int>(k - first))
            return false;
    }
    return true;
}

Ref read_of_every_element(const Builder&, const Node& node) {
    const Ref& x = node.inputs[0];
    return x->shape == node.shape && indexes_itself(node, 1, x->shape) ? x : nullptr;
}

/// Reads one part of a stack without making the concat or stack.
Ref read_of_one_part(const Builder& b, const Node& node) {
    const std::optional<JoinedParts> joined = joined_parts(*node.inputs[0]);
    if (!joined || !joined->extent.is(1)) return nullptr;
    const auto axis = static_cast<size_t>(joined->axis);
    const std::optional<Scalar> which = constant_value(*node.inputs[axis + 1]);
    if (!which || which->i < 0 || which->i >= static_cast<int64_t>(joined->sides.size()))
        return nullptr;
    const auto k = static_cast<size_t>(which->i);
    Ref side = node.inputs[0];
    for (size_t step = 0; step < k; ++step) side = side->inputs[2];
    if (k + 1 < joined->sides.size()) side = side->inputs[1];
    Shape others = node.inputs[0]->shape;
    others.erase(others.begin() + joined->axis);
    GatherAttr attr = node.as<GatherAttr>();
    attr.modes.erase(attr.modes.begin() + joined->axis);
    std::vector<Ref> at(node.inputs.begin() + 1, node.inputs.end());
    at.erase(at.begin() + joined->axis);
    Ref part = part_of(b, *joined, k, side);
    if (part->op == Op::Reshape) part = part->inputs[0];
    if (part->shape != others) part = reshape(b, part, others);
    return at.empty() ? expand(b, part, node.shape)
                      : gather(b, part, at, attr.modes, attr.fill, attr.own);
}

/// Every element is stored exactly once. This does not hold in kernels by hand, which store by
/// steps.
Ref store_to_every_element(const Builder& b, const Node& node) {
    if (node.as<ScatterAttr>().by_hand) return nullptr;
    const Ref &target = node.inputs[0], &values = node.inputs[1];
    if (values->shape != target->shape || !indexes_itself(node, 2, target->shape)) return nullptr;
    const ScatterOp op = node.as<ScatterAttr>().op;
    return op == ScatterOp::Last ? values : elementwise(b, combining_op(op), {target, values});
}

// --- regions -------------------------------------------------------------------------------------

/// Returns the trip count of a loop whose bounds are numbers: 0, 1, or 2 for more.
std::optional<int> iterations_of(const Node& loop) {
    for (size_t k = 0; k < 3; ++k)
        if (loop.inputs[k]->op != Op::Constant) return std::nullopt;
    const auto number = [&](size_t k) { return loop.inputs[k]->as<ConstantAttr>().value.i; };
    const int64_t begin = number(0), end = number(1), step = number(2);
    const auto runs = [&](int64_t at) { return step > 0 ? at < end : at > end; };
    return !runs(begin) ? 0 : !runs(begin + step) ? 1 : 2;
}

Ref result_of_no_iterations(const Builder&, const Node& node) {
    const Node& owner = *node.inputs[0];
    if (owner.op != Op::Loop || iterations_of(owner) != 0) return nullptr;
    return owner.inputs[static_cast<size_t>(node.as<ResultAttr>().index) + 3];
}

Ref result_of_known_branch(const Builder& b, const Node& node) {
    const Node& owner = *node.inputs[0];
    if (owner.op != Op::If) return nullptr;
    std::optional<Scalar> condition = constant_value(*owner.inputs[0]);
    if (!condition) return nullptr;
    const auto& attr = owner.as<IfAttr>();
    const auto& taken = condition->i ? attr.then_body : attr.else_body;
    return expand(b, taken->results[static_cast<size_t>(node.as<ResultAttr>().index)], node.shape);
}

/// Branches have no arguments, so a result of both has the same meaning outside.
Ref result_of_equal_branches(const Builder& b, const Node& node) {
    const Node& owner = *node.inputs[0];
    if (owner.op != Op::If) return nullptr;
    const auto& attr = owner.as<IfAttr>();
    size_t k = static_cast<size_t>(node.as<ResultAttr>().index);
    const Ref& value = attr.then_body->results[k];
    return value == attr.else_body->results[k] ? expand(b, value, node.shape) : nullptr;
}

/// Some iterations that all run, without an end that they decide themselves.
bool runs_iterations(const Node& loop) {
    if (loop.op != Op::Loop || iterations_of(loop).value_or(0) < 1) return false;
    const auto& attr = loop.as<LoopAttr>();
    return !attr.by_hand() && attr.active < 0 && attr.must_end == MustEnd::No && attr.sizes.empty();
}

/// A choice between a carried value and another one gives the same in every iteration if neither
/// the condition nor the other value depends on the iterations.
Ref result_of_settled_choice(const Builder& b, const Node& node) {
    const Node& loop = *node.inputs[0];
    if (!runs_iterations(loop)) return nullptr;
    const Region& body = *loop.as<LoopAttr>().body;
    const auto k = static_cast<size_t>(node.as<ResultAttr>().index);
    const Node& next = *body.results[k];
    if (next.op != Op::Select) return nullptr;
    const auto varies = [&](const Ref& value) {
        return value->free_args &&
               std::any_of(body.args.begin(), body.args.end(), [&](const Ref& arg) {
                   return std::binary_search(value->free_args->begin(), value->free_args->end(),
                                             arg->as<RegionArgAttr>().id);
               });
    };
    for (const size_t side : {1, 2}) {
        std::vector<Ref> inputs(next.inputs.begin(), next.inputs.end());
        if (inputs[side] != body.args[k + 1] || varies(inputs[0]) || varies(inputs[3 - side]))
            continue;
        inputs[side] = expand(b, loop.inputs[k + 3], next.shape);
        return expand(b, elementwise(b, Op::Select, inputs), node.shape);
    }
    return nullptr;
}

/// Removes the node, since gradients have been taken.
Ref value_without_rule(const Builder&, const Node& node) { return node.inputs[0]; }

constexpr StructureRow kStructureRows[] = {
    {"value with a rule", Op::Ruled, value_without_rule},
    {"cast of cast", Op::Cast, cast_of_cast},
    {"bitcast of bitcast", Op::Bitcast, bitcast_of_bitcast},
    {"division by a power of two", Op::Div, division_by_power_of_two},
    {"reshape of nothing", Op::Reshape, movement_of_nothing},
    {"permute of nothing", Op::Permute, movement_of_nothing},
    {"expand of nothing", Op::Expand, movement_of_nothing},
    {"slice of nothing", Op::Slice, movement_of_nothing},
    {"pad of nothing", Op::Pad, movement_of_nothing},
    {"reshape of reshape", Op::Reshape, reshape_of_reshape},
    {"permute of permute", Op::Permute, permute_of_permute},
    {"expand of expand", Op::Expand, expand_of_expand},
    {"expand of a reshaped scalar", Op::Expand, expand_of_reshaped},
    {"slice of slice", Op::Slice, slice_of_slice},
    {"reshape of a repeated scalar", Op::Reshape, single_moved},
    {"permute of a repeated scalar", Op::Permute, single_moved},
    {"slice of a repeated scalar", Op::Slice, single_moved},
    {"read of every element", Op::Gather, read_of_every_element},
    {"read of one part", Op::Gather, read_of_one_part},
    {"store to every element", Op::Scatter, store_to_every_element},
    {"sum of one choice", Op::Reduce, sum_of_one_choice},
    {"loop of no iterations", Op::Result, result_of_no_iterations},
    {"choice that no iteration changes", Op::Result, result_of_settled_choice},
    {"branch of a known condition", Op::Result, result_of_known_branch},
    {"branch of equal values", Op::Result, result_of_equal_branches},
};

}  // namespace

std::span<const StructureRow> structure_rows() { return kStructureRows; }

std::vector<Ref> results_of_one_iteration(const Builder& b, const Node& loop) {
    if (!runs_iterations(loop) || iterations_of(loop) != 1) return {};
    const auto& attr = loop.as<LoopAttr>();
    std::unordered_map<const Node*, Ref> values{{attr.body->args[0].get(), loop.inputs[0]}};
    for (size_t k = 1; k < attr.body->args.size(); ++k)
        values.emplace(attr.body->args[k].get(), loop.inputs[k + 2]);
    return substitute(b.table, attr.body->results, values);
}

}  // namespace firn
