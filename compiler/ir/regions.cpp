// Placement by one pass from users to operands, meeting in the common ancestor of all uses.
#include "compiler/ir/regions.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/base/error.h"

namespace firn {
namespace {

struct Placer {
    bool by_hand;
    Placement out;
    std::unordered_map<const Node*, int> arg_owner;
    std::unordered_set<const Node*> taken =
        {};  // by hand: versions of arrays that others are made of, and loops of such

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
        if (by_hand && owner == arg_owner.end()) return use(arg, 0);
        ensure(owner != arg_owner.end(), "a region argument belongs to no region of this graph");
        use(arg, owner->second);
        int& home = *out.region_of.find(arg.get());
        if (home != owner->second)
            throw InternalError("internal error: a region argument is used outside its region");
    }

    /// A version of an array of the kernel, or of a tensor that it stores to.
    bool is_version(const Node& node) const {
        if (node.op == Op::Array || node.op == Op::Barrier) return true;
        if (node.op == Op::Scatter) return node.as<ScatterAttr>().by_hand;
        if (node.op == Op::Result && node.inputs[0]->op == Op::Loop)
            return is_version(
                *node.inputs[0]->inputs[static_cast<size_t>(node.as<ResultAttr>().index) + 3]);
        const auto owner = arg_owner.find(&node);
        if (owner == arg_owner.end()) return false;
        const PlacedRegion& region = out.regions[static_cast<size_t>(owner->second)];
        const auto& args = region.region->args;
        const auto k =
            static_cast<size_t>(std::find_if(args.begin(), args.end(),
                                             [&](const Ref& arg) { return arg.get() == &node; }) -
                                args.begin());
        if (k == 0) return false;
        return region.owner->as<LoopAttr>().by_hand() || is_version(*region.owner->inputs[k + 2]);
    }

    /// Users come first, so that a version knows whether others are made of it.
    void note_taken(const Node& node) {
        if (node.op == Op::Scatter || node.op == Op::Barrier) taken.insert(node.inputs[0].get());
        if (node.op == Op::Loop)
            for (size_t k = 3; k < node.inputs.size(); ++k)
                if (is_version(*node.inputs[k])) taken.insert(node.inputs[k].get());
        if (node.op == Op::Result && taken.contains(&node)) taken.insert(node.inputs[0].get());
    }

    static bool depends(const Node& node, const Region& region) {
        return node.free_args &&
               std::any_of(region.args.begin(), region.args.end(), [&](const Ref& arg) {
                   const auto& free = *node.free_args;
                   return std::binary_search(free.begin(), free.end(), arg->as<RegionArgAttr>().id);
               });
    }

    /// Returns the region of a step of a kernel by hand that only `home` uses: it moves out of
    /// loops that it does not depend on. A step that makes another version stays with it: an array
    /// that begins in an iteration begins anew in each.
    int out_of_loops(const Node& node, int home) const {
        const bool step = node.op == Op::Scatter || node.op == Op::Barrier ||
                          node.op == Op::Gather || node.op == Op::Subgroup || node.op == Op::Loop ||
                          node.op == Op::If;
        if (!step || taken.contains(&node)) return home;
        int found = home;
        for (int r = home; r > 0; r = out.regions[static_cast<size_t>(r)].parent) {
            const PlacedRegion& region = out.regions[static_cast<size_t>(r)];
            if (region.owner->op == Op::If) continue;
            if (region.owner->as<LoopAttr>().by_hand() || depends(node, *region.region)) break;
            found = region.parent;
        }
        return found;
    }

    /// Returns the region of a loop that only `home` uses: before the kernels by hand that it does
    /// not depend on, because each of their iterations would run it.
    int out_of_kernels(const Node& node, int home) const {
        if (node.op != Op::Loop) return home;
        int found = home;
        for (int r = home; r > 0; r = out.regions[static_cast<size_t>(r)].parent) {
            const PlacedRegion& region = out.regions[static_cast<size_t>(r)];
            if (region.owner->op == Op::If) continue;
            if (depends(node, *region.region)) break;
            if (region.owner->as<LoopAttr>().by_hand()) found = region.parent;
        }
        return found;
    }

    void settle(const Ref& node) {
        if (node->op == Op::RegionArg) return settle_arg(node);
        if (node->op == Op::Input) use(node, 0);
        int& home = *out.region_of.find(node.get());
        if (by_hand) {
            note_taken(*node);
            home = out_of_loops(*node, home);
        } else {
            home = out_of_kernels(*node, home);
        }
        const int region = home;
        for (const Ref& input : node->inputs) use(input, region);
        if (node->op != Op::Loop && node->op != Op::If) return;
        out.first_region[node.get()] = static_cast<int>(out.regions.size());
        if (node->op == Op::Loop) return open(*node, *node->as<LoopAttr>().body, region);
        open(*node, *node->as<IfAttr>().then_body, region);
        open(*node, *node->as<IfAttr>().else_body, region);
    }
};

/// Returns the nodes without those of other kernels by hand, whose results lie in memory: they are
/// placed apart.
std::vector<Ref> own_nodes(const std::vector<Ref>& results) {
    std::unordered_set<const Node*> own;
    for (const Ref& result : results)
        if (result->op == Op::Result) own.insert(result->inputs[0].get());
    return topological(results, [&](const Node& node) {
        if (node.op != Op::Result || node.inputs[0]->op != Op::Loop) return false;
        const Node& loop = *node.inputs[0];
        return loop.as<LoopAttr>().by_hand() && !own.contains(&loop);
    });
}

Placement placed(const std::vector<Ref>& results, bool by_hand) {
    Placer placer{by_hand, {}, {}};
    placer.out.regions.emplace_back();
    for (const Ref& result : results) placer.use(result, 0);
    const std::vector<Ref> nodes = by_hand ? own_nodes(results) : topological(results);
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) placer.settle(*node);
    for (const Ref& node : nodes)
        if (node->op != Op::RegionArg)
            placer.out.regions[placer.out.region_of.at(node.get())].order.push_back(node);
    return std::move(placer.out);
}

}  // namespace

Placement place(const std::vector<Ref>& results) { return placed(results, false); }
Placement place_by_hand(const std::vector<Ref>& results) { return placed(results, true); }

std::vector<const Region*> regions_of(const Node& node) {
    if (node.op == Op::Loop) return {node.as<LoopAttr>().body.get()};
    if (node.op != Op::If) return {};
    return {node.as<IfAttr>().then_body.get(), node.as<IfAttr>().else_body.get()};
}

OwnNodes::OwnNodes(const Region& body) {
    for (const Ref& arg : body.args) args_.insert(arg->as<RegionArgAttr>().id);
    for (const Ref& result : body.results) visit(result);
}

bool OwnNodes::is_own(const Node& node) const {
    return node.free_args && std::any_of(node.free_args->begin(), node.free_args->end(),
                                         [&](uint64_t id) { return args_.contains(id); });
}

void OwnNodes::visit(const Ref& root) {
    std::vector<std::pair<Ref, bool>> open{
        {root, false}};  // and whether its operands stand above it
    while (!open.empty()) {
        const auto [node, entered] = open.back();
        if (entered || !is_own(*node) || !seen_.insert(node.get()).second) {
            if (entered) order.push_back(node);
            open.pop_back();
            continue;
        }
        open.back().second = true;
        std::vector<Ref> needed = node->inputs;
        for (const Region* region : regions_of(*node)) enter(*region, needed);
        for (size_t k = needed.size(); k-- > 0;) open.emplace_back(needed[k], false);
    }
}

void OwnNodes::enter(const Region& region, std::vector<Ref>& needed) {
    for (const Ref& arg : region.args) args_.insert(arg->as<RegionArgAttr>().id);
    needed.insert(needed.end(), region.args.begin(), region.args.end());
    needed.insert(needed.end(), region.results.begin(), region.results.end());
}

}  // namespace firn
