// Kernels by hand: the reads and stores of an invocation, in an order that the versions of arrays
// allow.
#include <utility>

#include "compiler/base/error.h"
#include "compiler/lower/needs_order.h"
#include "compiler/lower/order_steps.h"
#include "compiler/lower/walk_by_hand_grid.h"
#include "compiler/lower/walk_by_hand_state.h"

namespace firn {

HandWalk::HandWalk(const KernelRequest& request, const LowerContext& context,
                   const DeviceProfile& profile, KernelCode& code)
    : Walk(request, context, code),
      kernel_(*request.by_hand),
      attr_(kernel_.as<LoopAttr>()),
      profile_(profile),
      placement_(place_by_hand(request.outputs)),
      arrays_(kernel_, placement_, kept_apart(context)) {}

bool HandWalk::needs_order() const { return firn::needs_order(kernel_, arrays_, placement_); }

void HandWalk::lower() {
    b_.code().in_order = false;
    self_ = make_grid(b_, attr_.grid, false, false).indices;
    remember({attr_.body->args[0].get(), {}}, b_.integer(0));
    run_level(placement_.first_region.at(&kernel_));
}

void HandWalk::lower_in_order() {
    b_.code().in_order = true;
    note_fetched();
    const std::vector<uint32_t> group = hand_group(attr_, profile_);
    const int64_t lanes = arrays_.uses_subgroups ? profile_.subgroup_size : 0;
    own_ = choose_own_arrays(placement_, attr_.grid.size(), groups_of(attr_.grid, group), group,
                             profile_, context_.facts);
    const auto [self, inside, row] =
        hand_grid(b_, attr_.grid, group, lanes, own_, request_.slice, profile_);
    self_ = self, row_ = row;
    remember({attr_.body->args[0].get(), {}}, b_.integer(0));
    const int level = placement_.first_region.at(&kernel_);
    if (b_.is_constant(inside)) return run_level(level);
    region_ = b_.add_region();
    run_level(level);
    b_.code()[kRoot].effects.push_back(b_.branch(inside, region_, {}, true));
}

std::unordered_set<const Node*> HandWalk::kept_apart(const LowerContext& context) const {
    std::unordered_set<const Node*> out;
    for (const Ref& arg : attr_.body->args)
        if (context.buffers.contains(arg.get())) out.insert(arg.get());
    return out;
}

Indices HandWalk::own_at(const Shape& shape) {
    return normal(shape, project(b_, self_, attr_.grid, shape));
}

void HandWalk::note_fetched() {
    for (const PlacedRegion& region : placement_.regions)
        for (const Ref& node : region.order)
            if (node->op == Op::Fetched) fetched_[node->inputs[0].get()] = node.get();
}

void HandWalk::effect(NodeId node) { b_.code()[region_].effects.push_back(node); }

void HandWalk::run_level(int level) {
    bool cleared = false;  // shared arrays: no invocation may read one before all are
    for (const HandStep& step : order_steps(arrays_, placement_, level)) {
        const Node& node = *step.nodes[0];
        if (cleared && node.op != Op::Array && node.op != Op::Barrier)
            effect(b_.pinned(KernelOp::Barrier, i32, {}));
        cleared = node.op == Op::Array && (cleared || node.as<ArrayAttr>().shared);
        run_step(node);
    }
}

void HandWalk::run_step(const Node& node) {
    b_.set_lines(node.lines);
    switch (node.op) {
        case Op::Array: return start_array(node);
        case Op::Barrier: return effect(b_.pinned(KernelOp::Barrier, i32, {}));
        case Op::Gather: return read(node);
        case Op::Scatter: return store(node);
        case Op::Subgroup: return exchange(node);
        case Op::Loop: return run_loop(node);
        case Op::If: return run_branch(node);
        default:
            throw InternalError(std::string("a kernel by hand has no step for ") +
                                info(node.op).name);
    }
}

void HandWalk::give(const Node& node, NodeId value) {
    remember({&node, own_at(node.shape)}, value);
}

void HandWalk::run_loop(const Node& loop) {
    const Region& body = *loop.as<LoopAttr>().body;
    std::vector<int> values;  // carried values without arrays
    for (size_t k = 0; k < body.results.size(); ++k)
        if (!arrays_.root.contains(body.args[k + 1].get())) values.push_back(static_cast<int>(k));
    const OpenLoop open = open_loop(loop, values, attr_.grid, self_);
    const RegionId outer = std::exchange(region_, open.region);
    run_level(placement_.first_region.at(&loop));
    region_ = outer;
    const NodeId made = close_loop(loop, open, attr_.grid, self_);
    effect(made);
    for (size_t i = 0; i < values.size(); ++i)
        results_[{&loop, values[i]}] = b_.result(made, static_cast<int>(i));
}

void HandWalk::run_branch(const Node& branch) {
    const IfAttr& attr = branch.as<IfAttr>();
    const NodeId condition = ask(*branch.inputs[0], own_at(branch.inputs[0]->shape));
    const int first = placement_.first_region.at(&branch);
    auto fill = [&](const Region& body, int level) {
        const RegionId region = b_.add_region();
        const RegionId outer = std::exchange(region_, region);
        run_level(level);
        region_ = outer;
        std::vector<NodeId> yields;
        for (const Ref& value : body.results) yields.push_back(ask(*value, own_at(value->shape)));
        b_.code()[region].yields = std::move(yields);
        return region;
    };
    const RegionId yes = fill(*attr.then_body, first), no = fill(*attr.else_body, first + 1);
    b_.set_lines(branch.lines);
    const NodeId made = b_.branch(condition, yes, no, false);
    if (b_.code().in_order) effect(made);  // else nothing is stored in it
    for (size_t k = 0; k < attr.then_body->results.size(); ++k)
        results_[{&branch, static_cast<int>(k)}] = b_.result(made, static_cast<int>(k));
}

NodeId HandWalk::evaluate(const Node& node, const Indices& at) {
    const bool own = node.shape.size() <= attr_.grid.size() && at == own_at(node.shape);
    if (node.op == Op::Invocation) {
        if (own) return self_[static_cast<size_t>(node.as<IndexAttr>().axis)];
        return at[static_cast<size_t>(node.as<IndexAttr>().axis)];
    }
    if (node.op == Op::Result && own)
        if (auto it = results_.find({node.inputs[0].get(), node.as<ResultAttr>().index});
            it != results_.end())
            return it->second;
    const bool of_memory = node.op == Op::Gather && arrays_.is_step(node);
    const bool stored = node.op == Op::Result && arrays_.is_step(*node.inputs[0]);
    const bool carried = node.op == Op::RegionArg && !context_.buffers.contains(&node) &&
                         !context_.host_values.contains(&node) &&
                         !context_.host_numbers.contains(&node);
    if (of_memory || stored || carried || node.op == Op::Fetched || node.op == Op::Subgroup ||
        (arrays_.root.contains(&node) && !context_.buffers.contains(&node)))
        refuse_by_hand(
            node,
            "a value that another invocation computed is read; give it through shared(...) "
            "and a barrier()");
    return Walk::evaluate(node, at);
}

LoweredByHand lower_by_hand(const KernelRequest& request, const LowerContext& context,
                            const DeviceProfile& profile) {
    LoweredByHand made;
    made.code.name = request.name;
    HandWalk walk(request, context, profile, made.code);
    if (!walk.needs_order()) {
        walk.lower();
        if (!iterations_may_meet(made.code)) return made;
        made.code = KernelCode{};
        made.code.name = request.name;
        HandWalk(request, context, profile, made.code).lower_in_order();
        return made;
    }
    walk.lower_in_order();
    made.slices = walk.slices();
    made.own_buffers = walk.own_buffers();
    return made;
}

}  // namespace firn
