// Merges carried values of a loop that are always equal.
#include "compiler/mapping/before/merge_carried.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "compiler/kernel/rebuild.h"

namespace firn {
namespace {

/// The first carried value that equals each value that a loop carries, by For node.
using EqualCarried = std::unordered_map<NodeId, std::vector<int>>;

/// Names nodes so that two have the same name only where they have the same value, if the carried
/// values of a loop are equal as assumed.
class ValueNames {
  public:
    ValueNames(const KernelCode& code, const EqualCarried& known, NodeId loop,
               const std::vector<int>& assumed)
        : code_(code), known_(known), loop_(loop), assumed_(assumed) {}

    int of(NodeId id) {
        if (const auto it = by_node_.find(id); it != by_node_.end()) return it->second;
        const std::vector<int> key = structure(id);
        const int name =
            by_structure_.emplace(key, static_cast<int>(by_structure_.size())).first->second;
        return by_node_[id] = name;
    }

  private:
    std::vector<int> structure(NodeId id) {
        const KernelNode& n = code_[id];
        const RegionId body = code_[loop_].as<BodyAttr>().region;
        if (const auto* own = n.get_if<CarriedAttr>(); own && own->region == body)
            return {code_[body].args[static_cast<size_t>(assumed_[own->position])].number()};
        if (n.op == KernelOp::Result) {
            const auto equal = known_.find(n.args[0]);
            const int own = n.as<PositionAttr>().position;
            const int position = equal == known_.end() ? own : equal->second[own];
            return {-1, n.args[0].number(), position};
        }
        const auto* access = n.get_if<AccessAttr>();
        const bool load = n.op == KernelOp::Load && !code_.buffers[access->buffer].written;
        if (!load && !is_elementwise(n.op)) return {id.number()};
        std::vector<int> key{-2 - static_cast<int>(n.op), static_cast<int>(n.dtype.type)};
        if (access) key.insert(key.end(), {access->buffer, access->width});
        for (NodeId arg : n.args) key.push_back(of(arg));
        return key;
    }

    const KernelCode& code_;
    const EqualCarried& known_;
    NodeId loop_;
    const std::vector<int>& assumed_;
    std::map<std::vector<int>, int> by_structure_;
    std::unordered_map<NodeId, int> by_node_;
};

/// Assumes that all values that begin alike are equal, and splits those sets as long as an
/// iteration tells members apart: at most once for each value.
std::vector<int> equal_carried(const KernelCode& code, const EqualCarried& known, NodeId loop) {
    const KernelNode& n = code[loop];
    const std::vector<NodeId>& yields = code[n.as<BodyAttr>().region].yields;
    std::vector<int> equal(n.args.size(), -1);
    while (true) {
        ValueNames names(code, known, loop, equal);
        std::map<std::vector<int>, int> first;
        std::vector<int> next;
        for (size_t k = 0; k < equal.size(); ++k) {
            std::vector<int> key{equal[k], n.args[k].number()};
            if (equal[k] >= 0) key.push_back(names.of(yields[k]));
            next.push_back(first.emplace(std::move(key), static_cast<int>(k)).first->second);
        }
        const bool all_differ = first.size() == next.size();
        if (next == equal || all_differ) return next;
        equal = std::move(next);
    }
}

/// Inner loops come before those around them, as operands do.
EqualCarried find_equal(const KernelCode& code) {
    EqualCarried out;
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& n = code[id];
        if (n.op != KernelOp::For || n.args.size() < 2 ||
            !code[n.as<BodyAttr>().region].effects.empty())
            continue;
        std::vector<int> equal = equal_carried(code, out, id);
        std::vector<int> own(equal.size());
        std::iota(own.begin(), own.end(), 0);
        if (equal != own) out.emplace(id, std::move(equal));
    }
    return out;
}

class Merger : public Rebuild {
  public:
    Merger(const KernelCode& from, KernelBuilder& b, const EqualCarried& equal)
        : Rebuild(from, b), equal_(equal) {}

  private:
    int carried_as(NodeId loop, int position) const override {
        const auto it = equal_.find(loop);
        return it == equal_.end() ? position : it->second[static_cast<size_t>(position)];
    }

    const EqualCarried& equal_;
};

}  // namespace

KernelCode merge_carried(KernelCode code, const SymbolFacts& facts) {
    const EqualCarried equal = find_equal(code);
    if (equal.empty()) return code;
    KernelCode merged;
    merged.name = code.name;
    KernelBuilder b(merged, facts);
    Merger(code, b, equal).copy_kernel();
    return merged;
}

}  // namespace firn
