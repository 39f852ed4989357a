// The demand walk through loops and branches.
#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/ir/accumulation.h"
#include "compiler/ir/affine_index.h"
#include "compiler/lower/walk_state.h"

namespace firn {

NodeId Walk::loop_result(const Node& node, const Indices& at) {
    const Node& loop = *node.inputs[0];
    const int wanted = node.as<ResultAttr>().index;
    if (auto it = loop_results_.find({&loop, wanted, at}); it != loop_results_.end())
        return it->second;
    const OpenLoop open = open_loop(loop, run_together(loop, wanted, at), node.shape, at);
    const NodeId for_node = close_loop(loop, open, node.shape, at);
    NodeId mine;
    for (size_t i = 0; i < open.carried.size(); ++i) {
        const int k = open.carried[i];
        const NodeId value = b_.result(for_node, static_cast<int>(i));
        if (k == wanted) mine = value;
        loop_results_[{&loop, k, carried_index(loop, k, node.shape, at)}] = value;
    }
    return mine;
}

Indices Walk::carried_index(const Node& loop, int k, const Shape& shape, const Indices& at) {
    return project(b_, at, shape, loop.as<LoopAttr>().body->results[k]->shape);
}

Walk::OpenLoop Walk::open_loop(const Node& loop, const std::vector<int>& carried,
                               const Shape& shape, const Indices& at) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    const Region& body = *attr.body;
    auto project_to = [&](int k) { return carried_index(loop, k, shape, at); };
    OpenLoop open;
    open.carried = carried;
    const NodeId begin = ask(*loop.inputs[0], {}), end = ask(*loop.inputs[1], {}),
                 step = ask(*loop.inputs[2], {});
    for (int k : carried) {
        const Node& init = *loop.inputs[k + 3];
        open.inits.push_back(
            ask(init, project(b_, project_to(k), body.results[k]->shape, init.shape)));
    }
    ++open_loops_;
    b_.set_lines(loop.lines);
    open.region = b_.add_region();
    open.range = loop_range(b_, begin, end, step, may_start(loop, project_to));
    b_.code()[open.region].range = open.range;
    open.mark = log_.size();
    remember({body.args[0].get(), {}}, b_.add(begin, b_.mul(b_.range(open.range), step)));
    for (int k : carried) {
        const NodeId arg = b_.region_arg(open.region, body.results[k]->dtype);
        const Indices own = normal(body.results[k]->shape, project_to(k));
        carried_at_[body.args[k + 1].get()] = own;
        remember({body.args[k + 1].get(), own}, k == attr.active ? b_.boolean_value(true) : arg);
    }
    return open;
}

NodeId Walk::close_loop(const Node& loop, const OpenLoop& open, const Shape& shape,
                        const Indices& at) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    const Region& body = *attr.body;
    auto project_to = [&](int k) { return carried_index(loop, k, shape, at); };
    std::vector<NodeId> yields;
    for (int k : open.carried) yields.push_back(ask(*body.results[k], project_to(k)));
    if (attr.active >= 0) {
        auto it = std::find(open.carried.begin(), open.carried.end(), attr.active);
        const NodeId alive = it != open.carried.end()
                                 ? yields[it - open.carried.begin()]
                                 : ask(*body.results[attr.active], project_to(attr.active));
        const bool always = b_.is_constant(alive) && b_.node(alive).as<Scalar>().i;
        if (!always) b_.code()[open.region].alive = alive;
    }
    b_.code()[open.region].yields = std::move(yields);
    b_.set_lines(loop.lines);
    const NodeId for_node = b_.close_for(open.region, open.inits);
    forget_iteration(open.mark, open.range);
    --open_loops_;
    return for_node;
}

Read Walk::inside_of(const Node& asked, NodeId i, const Size& n, Bounds mode) {
    Read read = bounded(b_, i, n, mode);
    if (read.index == i) return read;
    if (mode == Bounds::Constant && is_harmless(asked)) {
        const NodeId guard = b_.guarding(read.index);
        if (guard != read.index) guards_[guard] = i;
        read.index = guard;
    }
    unbounded_.emplace(read.index, i);
    return read;
}

namespace {

/// A read at a place that values decide, which its user has promised to be inside.
bool is_promised(const Node& node) {
    if (node.op != Op::Gather) return false;
    const std::vector<Bounds>& modes = node.as<GatherAttr>().modes;
    for (size_t k = 0; k < modes.size(); ++k)
        if (modes[k] == Bounds::Unchecked && !affine_index(*node.inputs[k + 1])) return true;
    return false;
}

}  // namespace

bool Walk::is_harmless(const Node& value) {
    std::vector<const Node*> open{&value};
    std::unordered_set<const Node*> seen;
    while (!open.empty()) {
        const Node& node = *open.back();
        open.pop_back();
        if (context_.buffers.contains(&node) || seen.contains(&node)) continue;
        const auto known = harmless_.find(&node);
        if (known != harmless_.end() && known->second) continue;
        if (known != harmless_.end() || node.op == Op::Loop || is_promised(node))
            return harmless_[&value] = false;
        seen.insert(&node);
        for (const Ref& input : node.inputs) open.push_back(input.get());
    }
    for (const Node* node : seen) harmless_[node] = true;
    return true;
}

NodeId Walk::without_guards(NodeId i, bool scaled) {
    constexpr size_t kMost = 32;  // nodes of an index that are looked at
    std::map<NodeId, NodeId> built;
    const auto build = [&](const auto& self, NodeId id) -> NodeId {
        if (const auto known = built.find(id); known != built.end()) return known->second;
        if (built.size() >= kMost) return id;
        built[id] = id;
        if (const auto guard = guards_.find(id); guard != guards_.end())
            return built[id] = self(self, guard->second);
        // Not through the quotients of a reshape, which know that the index is inside.
        const KernelOp op = b_.node(id).op;
        const bool moves = op == KernelOp::Add || op == KernelOp::Sub || op == KernelOp::Min ||
                           op == KernelOp::Max || (op == KernelOp::Mul && scaled);
        if (!moves || b_.node(id).dtype != i32) return id;
        std::vector<NodeId> args = b_.node(id).args;
        for (NodeId& arg : args) arg = self(self, arg);
        return built[id] = args == b_.node(id).args ? id : b_.make(op, i32, args);
    };
    return build(build, i);
}

NodeId Walk::unguarded(NodeId i, const Size& n) {
    if (guards_.empty()) return i;
    const NodeId free = without_guards(i, true);
    if (free == i || bounded(b_, free, n, Bounds::Clamp).index == free) return free;
    // A block of a scaled index stays one where the index is bounded before.
    const NodeId moved = without_guards(i, false);
    return moved == i ? i : bounded(b_, moved, n, Bounds::Clamp).index;
}

bool Walk::stands_for(const Indices& at, const Indices& own) const {
    auto was = [&](NodeId index, NodeId wanted) {
        std::set<NodeId> seen;
        std::vector<NodeId> queue{index};
        while (!queue.empty()) {
            const NodeId last = queue.back();
            queue.pop_back();
            if (last == wanted) return true;
            if (!seen.insert(last).second) continue;
            const auto [first, end] = unbounded_.equal_range(last);
            for (auto it = first; it != end; ++it) queue.push_back(it->second);
        }
        return false;
    };
    return std::equal(at.begin(), at.end(), own.begin(), own.end(), was);
}

bool Walk::is_guarded(const Indices& at, const Indices& own) const {
    const auto was = [&](NodeId index, NodeId wanted) {
        while (index != wanted) {
            const auto guard = guards_.find(index);
            if (guard == guards_.end()) return false;
            index = guard->second;
        }
        return true;
    };
    return std::equal(at.begin(), at.end(), own.begin(), own.end(), was);
}

NodeId Walk::carried_value(const Node& arg, const Indices& at) {
    // If the index lies outside, a store or a padding takes another value.
    ensure(is_carried_at(arg, at), "a carried value of a loop is asked for at another index");
    return memo_.at({&arg, carried_at_.at(&arg)});
}

bool Walk::is_carried_at(const Node& arg, const Indices& at) const {
    const auto own = carried_at_.find(&arg);
    return own != carried_at_.end() && memo_.contains({&arg, own->second}) &&
           stands_for(at, own->second);
}

template <class Project>
NodeId Walk::may_start(const Node& loop, Project project_to) {
    const int active = loop.as<LoopAttr>().active;
    if (active < 0) return b_.boolean_value(true);
    const Node& init = *loop.inputs[active + 3];
    return ask(init, project(b_, project_to(active),
                             loop.as<LoopAttr>().body->results[active]->shape, init.shape));
}

std::vector<int> Walk::run_together(const Node& loop, int wanted, const Indices& at) {
    const auto& results = loop.as<LoopAttr>().body->results;
    std::set<int> together{wanted};
    for (size_t k = 0; k < results.size(); ++k)
        if (results[k]->shape == results[wanted]->shape && accumulation(loop, k).empty() &&
            !together.contains(static_cast<int>(k)) && comes_along(loop, static_cast<int>(k), at))
            together.insert(static_cast<int>(k));
    return members_of(loop, together);
}

const std::vector<int>& Walk::needed_members(const Node& loop, int k) {
    const auto key = std::make_pair(&loop, k);
    if (auto it = members_.find(key); it != members_.end()) return it->second;
    return members_.emplace(key, members_of(loop, {k})).first->second;
}

std::vector<int> Walk::members_of(const Node& loop, std::set<int> needed) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    if (attr.active >= 0) needed.insert(attr.active);
    std::vector<int> queue(needed.begin(), needed.end());
    while (!queue.empty()) {
        const int k = queue.back();
        queue.pop_back();
        std::set<int> more;
        add_needed(loop, *attr.body->results[k], more);
        for (int m : more)
            if (needed.insert(m).second) queue.push_back(m);
    }
    return {needed.begin(), needed.end()};
}

void Walk::add_needed(const Node& loop, const Node& value, std::set<int>& needed) {
    const Region& body = *loop.as<LoopAttr>().body;
    const std::unordered_set<const Node*> asked = needed_by(value);
    for (size_t a = 1; a < body.args.size(); ++a)
        if (asked.contains(body.args[a].get())) needed.insert(static_cast<int>(a) - 1);
}

std::unordered_set<const Node*> Walk::needed_by(const Node& root) {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> queue{&root};
    while (!queue.empty()) {
        const Node& node = *queue.back();
        queue.pop_back();
        if (!seen.insert(&node).second || context_.buffers.contains(&node)) continue;
        if (node.op != Op::Result) {
            for (const Ref& input : node.inputs) queue.push_back(input.get());
            continue;
        }
        const Node& owner = *node.inputs[0];
        const int k = node.as<ResultAttr>().index;
        if (owner.op == Op::If) {
            queue.push_back(owner.inputs[0].get());
            queue.push_back(owner.as<IfAttr>().then_body->results[k].get());
            queue.push_back(owner.as<IfAttr>().else_body->results[k].get());
            continue;
        }
        for (int bound = 0; bound < 3; ++bound) queue.push_back(owner.inputs[bound].get());
        for (int member : needed_members(owner, k)) {
            queue.push_back(owner.inputs[member + 3].get());
            queue.push_back(owner.as<LoopAttr>().body->results[member].get());
        }
    }
    return seen;
}

NodeId Walk::branch_result(const Node& node, const Indices& at) {
    const Node& branch = *node.inputs[0];
    const IfAttr& attr = branch.as<IfAttr>();
    const int k = node.as<ResultAttr>().index;
    const NodeId condition =
        ask(*branch.inputs[0], project(b_, at, node.shape, branch.inputs[0]->shape));
    if (b_.is_constant(condition)) {
        const Region& taken = b_.node(condition).as<Scalar>().i ? *attr.then_body : *attr.else_body;
        return ask(*taken.results[k], project(b_, at, node.shape, taken.results[k]->shape));
    }
    auto fill = [&](const Region& body) {
        const RegionId region = b_.add_region();
        const NodeId value =
            ask(*body.results[k], project(b_, at, node.shape, body.results[k]->shape));
        b_.code()[region].yields = {value};
        return region;
    };
    const RegionId then_region = fill(*attr.then_body);
    const RegionId else_region = fill(*attr.else_body);
    b_.set_lines(branch.lines);
    return b_.result(b_.branch(condition, then_region, else_region, false), 0);
}

}  // namespace firn
