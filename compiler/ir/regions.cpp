// Placement by one pass from users to operands, meeting in the common ancestor of all uses.
#include "compiler/ir/regions.h"

#include "compiler/program/error.h"

namespace firn {
namespace {

struct Placer {
    bool part;
    Placement out;
    std::unordered_map<const Node*, int> arg_owner;

    int common_ancestor(int a, int b) const {
        const auto& regions = out.regions;
        while (a != b) {
            int& deeper = regions[a].depth >= regions[b].depth ? a : b;
            deeper = regions[deeper].parent;
        }
        return a;
    }

    void use(const Ref& node, int region) {
        if (out.region_of.insert(node.get(), region)) return;
        int& home = *out.region_of.find(node.get());
        home = common_ancestor(home, region);
    }

    void open(const Node& owner, const Region& region, int parent) {
        int id = static_cast<int>(out.regions.size());
        out.regions.push_back({parent, out.regions[parent].depth + 1, &owner, &region, {}});
        for (const Ref& arg : region.args)
            ensure(arg_owner.emplace(arg.get(), id).second,
                   "a region argument belongs to two regions");
        for (const Ref& result : region.results) use(result, id);
    }

    void settle_arg(const Ref& arg) {
        auto owner = arg_owner.find(arg.get());
        if (part && owner == arg_owner.end()) return use(arg, 0);
        ensure(owner != arg_owner.end(), "a region argument belongs to no region of this graph");
        use(arg, owner->second);
        int& home = *out.region_of.find(arg.get());
        if (home != owner->second)
            throw InternalError("internal error: a region argument is used outside its region");
    }

    void settle(const Ref& node) {
        if (node->op == Op::RegionArg) return settle_arg(node);
        if (node->op == Op::Input) use(node, 0);
        int region = out.region_of.at(node.get());
        for (const Ref& input : node->inputs) use(input, region);
        if (node->op != Op::Loop && node->op != Op::If) return;
        out.first_region[node.get()] = static_cast<int>(out.regions.size());
        if (node->op == Op::Loop) return open(*node, *node->as<LoopAttr>().body, region);
        open(*node, *node->as<IfAttr>().then_body, region);
        open(*node, *node->as<IfAttr>().else_body, region);
    }
};

}  // namespace

Placement place(const std::vector<Ref>& results, bool part) {
    Placer placer{part, {}, {}};
    placer.out.regions.emplace_back();
    for (const Ref& result : results) placer.use(result, 0);
    std::vector<Ref> nodes = topological(results);
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) placer.settle(*node);
    for (const Ref& node : nodes)
        if (node->op != Op::RegionArg)
            placer.out.regions[placer.out.region_of.at(node.get())].order.push_back(node);
    return std::move(placer.out);
}

}  // namespace firn
