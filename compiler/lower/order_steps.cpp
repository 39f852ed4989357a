// Orders the reads and stores of a kernel by hand.
#include "compiler/lower/order_steps.h"

#include <algorithm>

#include "compiler/base/error.h"

namespace firn {
namespace {

class Orderer {
  public:
    Orderer(const HandArrays& arrays, const Placement& placement, int region)
        : arrays_(arrays), placement_(placement), region_(region) {}

    std::vector<HandStep> run() {
        collect();
        before_.resize(steps_.size());
        for (size_t k = 0; k < steps_.size(); ++k) needs_of(k);
        versions_apart();
        return sorted();
    }

  private:
    void collect() {
        std::unordered_map<uint64_t, size_t> barriers;
        for (const Ref& ref : placement_.regions[static_cast<size_t>(region_)].order) {
            if (!arrays_.is_step(*ref)) continue;
            if (ref->op == Op::Barrier) {
                const auto [it, added] = barriers.emplace(ref->as<BarrierAttr>().id, steps_.size());
                if (!added) {
                    steps_[it->second].nodes.push_back(ref.get());
                    step_of_[ref.get()] = it->second;
                    continue;
                }
            }
            step_of_[ref.get()] = steps_.size();
            steps_.push_back({{ref.get()}});
        }
    }

    bool is_above(const Node& node) const {
        const int* home = placement_.region_of.find(&node);
        if (!home) return true;
        const auto& regions = placement_.regions;
        return regions[static_cast<size_t>(*home)].depth <
               regions[static_cast<size_t>(region_)].depth;
    }

    template <class Visit>
    static void children(const Node& node, const Visit& visit) {
        for (const Ref& input : node.inputs) visit(*input);
        auto region = [&](const Region& body) {
            for (const Ref& result : body.results) visit(*result);
        };
        if (node.op == Op::Loop) region(*node.as<LoopAttr>().body);
        if (node.op != Op::If) return;
        region(*node.as<IfAttr>().then_body);
        region(*node.as<IfAttr>().else_body);
    }

    /// The steps of this region that step k needs, and the versions that it reads.
    void needs_of(size_t k) {
        std::unordered_set<const Node*> seen;
        std::vector<const Node*> queue(steps_[k].nodes);
        while (!queue.empty()) {
            const Node& node = *queue.back();
            queue.pop_back();
            if (!seen.insert(&node).second) continue;
            const auto step = step_of_.find(&node);
            if (step != step_of_.end() && step->second != k) {
                before_[k].insert(step->second);
                continue;
            }
            if (node.op == Op::Gather && arrays_.is_step(node))
                readers_[node.inputs[0].get()].insert(k);
            if (is_above(node)) continue;
            children(node, [&](const Node& child) { queue.push_back(&child); });
        }
    }

    /// The versions that a step makes something new of.
    std::vector<const Node*> takes(const HandStep& step) const {
        std::vector<const Node*> out;
        for (const Node* node : step.nodes) {
            if (node->op == Op::Scatter || node->op == Op::Barrier)
                out.push_back(node->inputs[0].get());
            if (node->op != Op::Loop) continue;
            for (size_t k = 3; k < node->inputs.size(); ++k)
                if (arrays_.root.contains(node->inputs[k].get()))
                    out.push_back(node->inputs[k].get());
        }
        return out;
    }

    void versions_apart() {
        std::unordered_map<const Node*, size_t> taken;
        for (size_t k = 0; k < steps_.size(); ++k)
            for (const Node* version : takes(steps_[k])) {
                const auto [it, added] = taken.emplace(version, k);
                if (!added && it->second != k)
                    refuse_by_hand(*steps_[k].nodes[0],
                                   "two stores start from the same version of an array, "
                                   "which is in memory once; store one after the other");
                for (size_t reader : readers_[version])
                    if (reader != k) before_[k].insert(reader);
            }
    }

    std::vector<HandStep> sorted() const {
        std::vector<HandStep> out;
        std::vector<bool> done(steps_.size());
        while (out.size() < steps_.size()) {
            size_t next = 0;
            auto ready = [&](size_t k) {
                return !done[k] && std::all_of(before_[k].begin(), before_[k].end(),
                                               [&](size_t b) { return done[b]; });
            };
            while (next < steps_.size() && !ready(next)) ++next;
            if (next == steps_.size()) {
                const auto open =
                    static_cast<size_t>(std::find(done.begin(), done.end(), false) - done.begin());
                refuse_by_hand(
                    *steps_[open].nodes[0],
                    "a version of an array is read after a store has replaced it; read it into a "
                    "value before the store");
            }
            done[next] = true;
            out.push_back(steps_[next]);
        }
        return out;
    }

    const HandArrays& arrays_;
    const Placement& placement_;
    int region_;
    std::vector<HandStep> steps_;
    std::unordered_map<const Node*, size_t> step_of_;
    std::vector<std::unordered_set<size_t>> before_;
    std::unordered_map<const Node*, std::unordered_set<size_t>> readers_;  // of a version
};

}  // namespace

std::vector<HandStep> order_steps(const HandArrays& arrays, const Placement& placement,
                                  int region) {
    return Orderer(arrays, placement, region).run();
}

}  // namespace firn
