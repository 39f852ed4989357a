// The demand walk: what every invocation stores, and in which order it asks for it.
#include <span>

#include "compiler/ir/accumulation.h"
#include "compiler/kernel/rows.h"
#include "compiler/lower/walk_state.h"

namespace firn {

void Walk::run() {
    const Written by_position = written(*request_.outputs[0], {});
    const bool rows = !request_.row_reductions.empty();
    const bool flat = !request_.inner && !by_position && !rows &&
                      is_flat_kernel(request_.outputs, request_.shape, context_);
    const Shape outer(request_.shape.begin(), request_.shape.end() - request_.inner);
    const Grid grid = make_grid(b_, outer, flat, !by_position);
    if (rows) row_ = normal(request_.shape, grid.indices);
    if (by_position) return write_position(by_position.loop, grid.indices);
    if (request_.inner) return run_rows(grid.indices);
    KernelCode& code = b_.code();
    for (size_t k = 0; k < request_.outputs.size(); ++k)
        own_[request_.outputs[k].get()] = normal(request_.outputs[k]->shape, grid.indices);
    for (size_t k = 0; k < request_.outputs.size(); ++k) {
        const Ref& output = request_.outputs[k];
        int value = ask(*output, grid.indices);
        b_.set_lines(output->lines);
        const int target = b_.buffer(request_.targets[k], output->dtype,
                                     element_count(output->shape), BindingForm::Storage, 1, true);
        code.regions[0].effects.push_back(b_.store(target, grid.flat, std::span(&value, 1)));
    }
}

void Walk::write_position(const Node* loop, const Indices& at) {
    if (!loop) {
        const std::vector<int> effects = position_effects(at);
        b_.code().regions[0].effects = effects;
        return;
    }
    std::set<int> needed;
    for (const Ref& output : request_.outputs)
        for (const Node* scatter : written(*output, {}).scatters)
            for (size_t k = 1; k < scatter->inputs.size(); ++k)
                add_needed(*loop, *scatter->inputs[k], needed);
    const OpenLoop open = open_loop(*loop, members_of(*loop, needed), request_.shape, at);
    const std::vector<int> effects = position_effects(at);
    if (effects.empty()) return;  // no position is ever inside
    b_.code().regions[open.region].effects = effects;
    const int made = close_loop(*loop, open, request_.shape, at);
    b_.code().regions[0].effects.push_back(made);
}

std::vector<int> Walk::position_effects(const Indices& at) {
    std::vector<int> effects;
    for (size_t k = 0; k < request_.outputs.size(); ++k) {
        const Written w = written(*request_.outputs[k], {});
        for (size_t s = w.scatters.size(); s-- > 0;)
            store_position(*w.scatters[s], request_.targets[k], at, effects);
    }
    return effects;
}

void Walk::store_position(const Node& scatter, int program_buffer, const Indices& at,
                          std::vector<int>& effects) {
    const Shape& shape = scatter.shape;
    int inside = b_.boolean_value(true);
    Indices to;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        to.push_back(ask(*scatter.inputs[axis + 2], at));
        b_.set_lines(scatter.lines);
        if (scatter.as<ScatterAttr>().part) continue;  // all of them are inside
        inside = b_.make(KernelOp::And, boolean,
                         {inside, bounded(b_, to[axis], shape[axis], Bounds::Constant).inside});
    }
    const int value = ask(*scatter.inputs[1], at);
    b_.set_lines(scatter.lines);
    const ScatterOp op = scatter.as<ScatterAttr>().op;
    // What the device cannot do to floats is done by exchanging their bits.
    const bool own = op == ScatterOp::Last || (op == ScatterOp::Add && context_.float_atomic_add);
    const DType stored = scatter.dtype == f32 && !own ? u32 : scatter.dtype;
    const int target =
        b_.buffer(program_buffer, stored, element_count(shape), BindingForm::Storage, 1, true);
    const int place = flat_index(b_, to, shape);
    const int effect = op == ScatterOp::Last ? b_.store(target, place, std::span(&value, 1))
                                             : b_.atomic(target, op, place, value);
    if (b_.is_constant(inside)) {
        if (b_.node(inside).constant.i) effects.push_back(effect);
        return;
    }
    const int region = b_.add_region();
    b_.code().regions[region].effects = {effect};
    effects.push_back(b_.branch(inside, region, -1, true));
}

void Walk::run_rows(const Indices& row) {
    for (size_t k = 0; k < request_.outputs.size(); ++k) {
        Indices at = row;
        std::vector<int> effects;
        walk_row(k, at, effects);
        std::vector<int>& all = b_.code().regions[0].effects;
        all.insert(all.end(), effects.begin(), effects.end());
    }
}

void Walk::walk_row(size_t output, Indices& at, std::vector<int>& effects) {
    const Ref& node = request_.outputs[output];
    if (at.size() == request_.shape.size()) {
        const int value = evaluate_own(*node, at);
        b_.set_lines(node->lines);
        const int target = b_.buffer(request_.targets[output], node->dtype,
                                     element_count(node->shape), BindingForm::Storage, 1, true);
        effects.push_back(b_.store(target, flat_index(b_, at, node->shape), std::span(&value, 1)));
        return;
    }
    const Size& extent = request_.shape[at.size()];
    if (is_short_row(request_.shape, request_.inner)) {
        // Side by side, so that loops of the same turns meet.
        for (int64_t k = 0; k < extent.constant(); ++k) {
            at.push_back(b_.integer(k));
            walk_row(output, at, effects);
            at.pop_back();
        }
        return;
    }
    const int region = b_.add_region();
    const int range = serial_range(b_, extent, "j");
    b_.code().regions[region].range = range;
    at.push_back(b_.range(range));
    const size_t mark = log_.size();
    std::vector<int> inside;
    walk_row(output, at, inside);
    at.pop_back();
    b_.code().regions[region].effects = std::move(inside);
    b_.set_lines(node->lines);
    effects.push_back(b_.close_for(region, {}));
    forget_turn(mark, range);
}

int Walk::evaluate_own(const Node& node, const Indices& at) {
    own_[&node] = normal(node.shape, at);
    return ask(node, at);
}

}  // namespace firn
