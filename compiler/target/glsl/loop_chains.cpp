// Loops that stand in sequence in one kernel.
#include "compiler/target/glsl/loop_chains.h"

#include <algorithm>
#include <utility>

#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

bool has_loops(const KernelCode& code, int region) {
    if (region < 0) return false;
    const auto is_loop = [&](int id) {
        const KernelNode& n = code.nodes[id];
        return n.op == KernelOp::For ||
               (n.op == KernelOp::Branch &&
                (has_loops(code, n.region) || has_loops(code, n.else_region)));
    };
    const KernelRegion& body = code.regions[region];
    return std::any_of(body.order.begin(), body.order.end(), is_loop) ||
           std::any_of(body.effects.begin(), body.effects.end(), is_loop);
}

class Chains {
  public:
    explicit Chains(const KernelCode& code) : code_(code) {}

    void follow(int region) {
        if (region < 0) return;
        const KernelRegion& body = code_.regions[region];
        for (int id : body.order) follow_node(id);
        for (int id : body.effects) follow_node(id);
    }
    std::set<int> apart;

  private:
    void follow_node(int id) {
        const KernelNode& n = code_.nodes[id];
        if (n.op == KernelOp::Barrier) length_ = 0;
        if (n.op == KernelOp::Array) ++length_;  // a loop clears it
        if (n.op == KernelOp::Branch) follow(n.region), follow(n.else_region);
        if (n.op == KernelOp::For) follow_loop(id);
    }

    void follow_loop(int id) {
        const KernelRegion& body = code_.regions[code_.nodes[id].region];
        const bool written_out = code_.ranges[body.range].written_out;
        if (has_loops(code_, code_.nodes[id].region)) {
            // Each copy of an unrolled body begins with the values of the copy before it.
            length_ = written_out ? costs::kLoopsInSequence : 1;
            follow(code_.nodes[id].region);
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

std::set<int> loops_apart(const KernelCode& code, const DeviceProfile& profile) {
    if (!rules_of(profile).unrolls_on || !profile.max_back_edges) return {};
    Chains chains(code);
    chains.follow(0);
    return std::move(chains.apart);
}

}  // namespace firn
