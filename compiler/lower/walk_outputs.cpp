// The demand walk: the stores of every invocation, and the order of their values.
#include <algorithm>
#include <span>
#include <utility>

#include "compiler/ir/accumulation.h"
#include "compiler/kernel/rows.h"
#include "compiler/lower/walk_state.h"

namespace firn {

void Walk::run() {
    const std::vector<Ref>& outputs = request_.outputs;
    const auto by_position = [](const Ref& output) {
        return static_cast<bool>(written(*output, {}));
    };
    const bool any = std::any_of(outputs.begin(), outputs.end(), by_position),
               all = std::all_of(outputs.begin(), outputs.end(), by_position);
    const bool rows = !request_.row_reductions.empty();
    const bool flat = !request_.inner && !any && !rows &&
                      is_flat_kernel(request_.outputs, request_.shape, context_);
    const Shape outer(request_.shape.begin(), request_.shape.end() - request_.inner);
    const WalkGrid grid = make_grid(b_, outer, flat, !all);
    if (rows) row_ = normal(request_.shape, grid.indices);
    if (const Node* loop = any ? written(*outputs[0], {}).loop : nullptr)
        return write_in_iterations(*loop, grid.indices);
    if (request_.inner) return run_rows(grid.indices);
    for (const Ref& output : outputs)
        if (!by_position(output)) own_[output.get()] = normal(output->shape, grid.indices);
    std::vector<NodeId> effects;
    for (size_t k = 0; k < outputs.size(); ++k)
        by_position(outputs[k]) ? write_position(k, grid.indices, effects)
                                : store_own(k, grid, effects);
    b_.code()[kRoot].effects = std::move(effects);
}

void Walk::store_own(size_t output, const WalkGrid& grid, std::vector<NodeId>& effects) {
    const Ref& node = request_.outputs[output];
    const NodeId value = ask(*node, grid.indices);
    b_.set_lines(node->lines);
    const int target = b_.buffer(request_.targets[output], node->dtype, element_count(node->shape),
                                 BindingForm::Storage, 1, true);
    effects.push_back(b_.store(target, grid.flat, std::span(&value, 1)));
}

void Walk::write_in_iterations(const Node& loop, const Indices& at) {
    std::set<int> needed;
    for (const Ref& output : request_.outputs)
        for (const Node* scatter : written(*output, {}).scatters)
            for (size_t k = 1; k < scatter->inputs.size(); ++k)
                add_needed(loop, *scatter->inputs[k], needed);
    const OpenLoop open = open_loop(loop, members_of(loop, needed), request_.shape, at);
    std::vector<NodeId> effects;
    for (size_t k = 0; k < request_.outputs.size(); ++k) write_position(k, at, effects);
    if (effects.empty()) return;  // no position is ever inside
    b_.code()[open.region].effects = std::move(effects);
    const NodeId made = close_loop(loop, open, request_.shape, at);
    b_.code()[kRoot].effects.push_back(made);
}

void Walk::write_position(size_t output, const Indices& at, std::vector<NodeId>& effects) {
    const Written w = written(*request_.outputs[output], {});
    for (size_t s = w.scatters.size(); s-- > 0;)
        store_position(*w.scatters[s], request_.targets[output], at, effects);
}

void Walk::store_position(const Node& scatter, int program_buffer, const Indices& at,
                          std::vector<NodeId>& effects) {
    const Shape& shape = scatter.shape;
    NodeId inside = b_.boolean_value(true);
    Indices to;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        to.push_back(ask(*scatter.inputs[axis + 2], at));
        b_.set_lines(scatter.lines);
        if (scatter.as<ScatterAttr>().part) continue;  // all of them are inside
        inside = b_.make(KernelOp::And, boolean,
                         {inside, bounded(b_, to[axis], shape[axis], Bounds::Constant).inside});
    }
    const NodeId value = ask(*scatter.inputs[1], at);
    b_.set_lines(scatter.lines);
    const ScatterOp op = scatter.as<ScatterAttr>().op;
    // Operations on floats that the device lacks are done by exchanging the bits.
    const bool own = op == ScatterOp::Last ||
                     (scatter.dtype == f32 && op == ScatterOp::Add && context_.float_atomic_add);
    const DType stored =
        scatter.dtype.is_float() && !own ? bits_type(scatter.dtype) : scatter.dtype;
    const int target =
        b_.buffer(program_buffer, stored, element_count(shape), BindingForm::Storage, 1, true);
    const NodeId place = flat_index(b_, to, shape);
    const NodeId effect = op == ScatterOp::Last ? b_.store(target, place, std::span(&value, 1))
                                                : b_.atomic(target, op, place, value);
    if (b_.is_constant(inside)) {
        if (b_.node(inside).as<Scalar>().i) effects.push_back(effect);
        return;
    }
    const RegionId region = b_.add_region();
    b_.code()[region].effects = {effect};
    effects.push_back(b_.branch(inside, region, {}, true));
}

void Walk::run_rows(const Indices& row) {
    for (size_t k = 0; k < request_.outputs.size(); ++k) {
        Indices at = row;
        std::vector<NodeId> effects;
        walk_row(k, at, effects);
        std::vector<NodeId>& all = b_.code()[kRoot].effects;
        all.insert(all.end(), effects.begin(), effects.end());
    }
}

void Walk::walk_row(size_t output, Indices& at, std::vector<NodeId>& effects) {
    const Ref& node = request_.outputs[output];
    if (at.size() == request_.shape.size()) {
        const NodeId value = evaluate_own(*node, at);
        b_.set_lines(node->lines);
        const int target = b_.buffer(request_.targets[output], node->dtype,
                                     element_count(node->shape), BindingForm::Storage, 1, true);
        effects.push_back(b_.store(target, flat_index(b_, at, node->shape), std::span(&value, 1)));
        return;
    }
    const Size& extent = request_.shape[at.size()];
    if (is_short_row(request_.shape, request_.inner)) {
        // Side by side, so that loops of equal trip counts can be fused.
        for (int64_t k = 0; k < extent.constant(); ++k) {
            at.push_back(b_.integer(k));
            walk_row(output, at, effects);
            at.pop_back();
        }
        return;
    }
    const RegionId region = b_.add_region();
    const RangeId range = serial_range(b_, extent, "j");
    b_.code()[region].range = range;
    at.push_back(b_.range(range));
    const size_t mark = log_.size();
    std::vector<NodeId> inside;
    walk_row(output, at, inside);
    at.pop_back();
    b_.code()[region].effects = std::move(inside);
    b_.set_lines(node->lines);
    effects.push_back(b_.close_for(region, {}));
    forget_iteration(mark, range);
}

NodeId Walk::evaluate_own(const Node& node, const Indices& at) {
    own_[&node] = normal(node.shape, at);
    return ask(node, at);
}

}  // namespace firn
