// Finds the nodes that only one side of a kernel's choices needs.
#include "compiler/mapping/before/choices.h"

#include <algorithm>

#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

std::vector<int> all_of(const KernelRegion& region) {
    std::vector<int> out = region.order;
    out.insert(out.end(), region.effects.begin(), region.effects.end());
    return out;
}

}  // namespace

Choices::Choices(const KernelCode& code, const DeviceProfile& profile)
    : code_(code),
      masked_(rules_of(profile).masked),
      load_(profile.seconds_per_load * profile.operations_per_second),
      home_(code.nodes.size(), -1),
      owner_(code.regions.size(), -1),
      users_(code.nodes.size()),
      outside_(code.nodes.size()) {
    for (size_t r = 0; r < code.regions.size(); ++r)
        for (int id : all_of(code.regions[r])) {
            home_[id] = static_cast<int>(r);
            const KernelNode& n = code.nodes[id];
            if (n.op != KernelOp::For && n.op != KernelOp::Branch) continue;
            owner_[n.region] = id;
            if (n.else_region >= 0) owner_[n.else_region] = id;
        }
    for (size_t r = 0; r < code.regions.size(); ++r) note_uses(static_cast<int>(r));
}

void Choices::note_uses(int r) {
    const KernelRegion& region = code_.regions[r];
    auto use = [&](int id, int user) {
        if (id < 0 || home_[id] < 0) return;
        int at = r;
        while (at >= 0 && at != home_[id]) {
            user = owner_[at];
            at = user >= 0 ? home_[user] : -1;
        }
        if (at < 0 || user < 0)
            outside_[id] = true;
        else
            users_[id].push_back(user);
    };
    for (int id : all_of(region)) {
        const KernelNode& n = code_.nodes[id];
        for (int arg : n.args) use(arg, id);
        if (n.op == KernelOp::For) use(code_.ranges[code_.regions[n.region].range].extent_node, id);
    }
    for (int y : region.yields) use(y, -1);
    use(region.alive, -1);
    for (int e : region.effects) outside_[e] = true;
}

std::map<int, std::vector<int>> Choices::by_condition(const KernelRegion& region) const {
    std::map<int, std::vector<int>> out;
    for (int id : region.order) {
        const KernelNode& n = code_.nodes[id];
        if (n.op != KernelOp::Select) continue;
        std::vector<int>& group = out[n.args[0]];
        if (!reaches_any(id, group)) group.push_back(id);
    }
    return out;
}

std::vector<bool> Choices::that_need(const std::vector<int>& wanted) const {
    std::vector<int> queue{wanted};
    std::vector<bool> seen(code_.nodes.size());
    while (!queue.empty()) {
        const int at = queue.back();
        queue.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        queue.insert(queue.end(), users_[at].begin(), users_[at].end());
    }
    return seen;
}

bool Choices::reaches_any(int id, const std::vector<int>& wanted) const {
    return !wanted.empty() && that_need(wanted)[id];
}

std::vector<int> Choices::needed_for(const KernelRegion& region, const std::vector<int>& selects,
                                     size_t side) const {
    std::vector<bool> inside(code_.nodes.size());
    std::vector<int> out;
    for (size_t k = region.order.size(); k-- > 0;) {
        const int id = region.order[k];
        if (outside_[id] || users_[id].empty()) continue;
        inside[id] = std::all_of(users_[id].begin(), users_[id].end(), [&](int user) {
            if (inside[user]) return true;
            const KernelNode& n = code_.nodes[user];
            return std::find(selects.begin(), selects.end(), user) != selects.end() &&
                   n.args[side] == id && n.args[3 - side] != id && n.args[0] != id;
        });
        if (inside[id]) out.push_back(id);
    }
    return out;
}

double Choices::cost(int id) const {
    const KernelNode& n = code_.nodes[id];
    if (n.op == KernelOp::Load) return load_ * n.width;
    if (n.op == KernelOp::Branch)
        return region_cost(n.region) + (n.else_region >= 0 ? region_cost(n.else_region) : 0);
    // Drivers that use masks run all of an operation's code.
    if (n.op != KernelOp::For)
        return !is_elementwise(n.op) ? 0 : masked_ ? body_cost(info(n.op)) : operation_cost(n.op);
    const int64_t most = code_.ranges[code_.regions[n.region].range].max_trips;
    return region_cost(n.region) * (most < 0 ? costs::kUnknownTrips : static_cast<double>(most));
}

double Choices::region_cost(int region) const {
    double out = 1;
    for (int id : code_.regions[region].order) out += cost(id);
    return out;
}

}  // namespace firn
