// Loops that stand in sequence in one kernel.
#include "compiler/target/glsl/loop_chains.h"

#include <algorithm>
#include <utility>

#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

bool has_loops(const KernelCode& code, RegionId region) {
    const auto is_loop = [&](NodeId id) {
        if (code[id].op == KernelOp::For) return true;
        const Bodies sides = bodies(code[id]);
        return std::any_of(sides.begin(), sides.end(),
                           [&](RegionId side) { return has_loops(code, side); });
    };
    const KernelRegion& body = code[region];
    return std::any_of(body.order.begin(), body.order.end(), is_loop) ||
           std::any_of(body.effects.begin(), body.effects.end(), is_loop);
}

class Chains {
  public:
    explicit Chains(const KernelCode& code) : code_(code) {}

    void follow(RegionId region) {
        const KernelRegion& body = code_[region];
        for (NodeId id : body.order) follow_node(id);
        for (NodeId id : body.effects) follow_node(id);
    }
    std::set<NodeId> apart;

  private:
    void follow_node(NodeId id) {
        const KernelNode& n = code_[id];
        if (n.op == KernelOp::Barrier) length_ = 0;
        if (n.op == KernelOp::Array) ++length_;  // a loop clears it
        if (n.op == KernelOp::Branch)
            for (RegionId side : bodies(n)) follow(side);
        if (n.op == KernelOp::For) follow_loop(id);
    }

    void follow_loop(NodeId id) {
        const RegionId body = code_[id].as<BodyAttr>().region;
        const bool written_out = code_[code_[body].range].written_out;
        if (has_loops(code_, body)) {
            // Each copy of an unrolled body begins with the values of the copy before it.
            length_ = written_out ? costs::kLoopsInSequence : 1;
            follow(body);
            length_ += !written_out;
        } else if (!written_out) {
            if (length_ >= costs::kLoopsInSequence) apart.insert(id), length_ = 1;
            ++length_;
        }
    }

    const KernelCode& code_;
    int64_t length_ = 0;
};

}  // namespace

std::set<NodeId> loops_apart(const KernelCode& code, const DeviceProfile& profile) {
    if (!rules_of(profile).unrolls_on || !profile.max_back_edges) return {};
    Chains chains(code);
    chains.follow(kRoot);
    return std::move(chains.apart);
}

}  // namespace firn
