// Finds the nodes that only one side of a kernel's choices needs.
#include "compiler/mapping/before/choices.h"

#include <algorithm>

#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

std::vector<NodeId> all_of(const KernelRegion& region) {
    std::vector<NodeId> out = region.order;
    out.insert(out.end(), region.effects.begin(), region.effects.end());
    return out;
}

}  // namespace

Choices::Choices(const KernelCode& code, const DeviceProfile& profile)
    : code_(code),
      masked_(rules_of(profile).masked),
      load_(profile.seconds_per_load * profile.operations_per_second),
      home_(code.nodes.size()),
      owner_(code.regions.size()),
      users_(code.nodes.size()),
      outside_(code.nodes.size()) {
    for (RegionId r : code.regions.ids())
        for (NodeId id : all_of(code[r])) {
            home_[id] = r;
            for (RegionId body : bodies(code[id])) owner_[body] = id;
        }
    for (RegionId r : code.regions.ids()) note_uses(r);
}

void Choices::note_uses(RegionId r) {
    const KernelRegion& region = code_[r];
    auto use = [&](NodeId id, NodeId user) {
        if (!id || !home_[id]) return;
        RegionId at = r;
        while (at && at != home_[id]) {
            user = owner_[at];
            at = user ? home_[user] : RegionId();
        }
        if (!at || !user)
            outside_[id] = true;
        else
            users_[id].push_back(user);
    };
    for (NodeId id : all_of(region)) {
        const KernelNode& n = code_[id];
        for (NodeId arg : n.args) use(arg, id);
        if (n.op == KernelOp::For) use(code_[code_[n.as<BodyAttr>().region].range].extent_node, id);
    }
    for (NodeId y : region.yields) use(y, {});
    use(region.alive, {});
    for (NodeId e : region.effects) outside_[e] = true;
}

std::map<NodeId, std::vector<NodeId>> Choices::by_condition(const KernelRegion& region) const {
    std::map<NodeId, std::vector<NodeId>> out;
    for (NodeId id : region.order) {
        const KernelNode& n = code_[id];
        if (n.op != KernelOp::Select) continue;
        std::vector<NodeId>& group = out[n.args[0]];
        if (!reaches_any(id, group)) group.push_back(id);
    }
    return out;
}

ByNode<bool> Choices::that_need(const std::vector<NodeId>& wanted) const {
    std::vector<NodeId> queue{wanted};
    ByNode<bool> seen(code_.nodes.size());
    while (!queue.empty()) {
        const NodeId at = queue.back();
        queue.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        queue.insert(queue.end(), users_[at].begin(), users_[at].end());
    }
    return seen;
}

bool Choices::reaches_any(NodeId id, const std::vector<NodeId>& wanted) const {
    return !wanted.empty() && that_need(wanted)[id];
}

std::vector<NodeId> Choices::needed_for(const KernelRegion& region,
                                        const std::vector<NodeId>& selects, size_t side) const {
    ByNode<bool> inside(code_.nodes.size());
    std::vector<NodeId> out;
    for (size_t k = region.order.size(); k-- > 0;) {
        const NodeId id = region.order[k];
        if (outside_[id] || users_[id].empty()) continue;
        inside[id] = std::all_of(users_[id].begin(), users_[id].end(), [&](NodeId user) {
            if (inside[user]) return true;
            const KernelNode& n = code_[user];
            return std::find(selects.begin(), selects.end(), user) != selects.end() &&
                   n.args[side] == id && n.args[3 - side] != id && n.args[0] != id;
        });
        if (inside[id]) out.push_back(id);
    }
    return out;
}

double Choices::cost(NodeId id) const {
    const KernelNode& n = code_[id];
    if (n.op == KernelOp::Load) return load_ * width(n);
    double inside = 0;
    for (RegionId body : bodies(n)) inside += region_cost(body);
    if (n.op == KernelOp::Branch) return inside;
    // Drivers that use masks run all of an operation's code.
    if (n.op != KernelOp::For)
        return !is_elementwise(n.op) ? 0 : masked_ ? body_cost(info(n.op)) : operation_cost(n.op);
    const int64_t most = code_[code_[n.as<BodyAttr>().region].range].max_trips;
    return inside * (most < 0 ? costs::kUnknownTrips : static_cast<double>(most));
}

double Choices::region_cost(RegionId region) const {
    double out = 1;
    for (NodeId id : code_[region].order) out += cost(id);
    return out;
}

}  // namespace firn
