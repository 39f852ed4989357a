// Short loops around short loops, iteration by iteration.
#include "compiler/mapping/write_out_nests.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/kernel/place.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/mapping/share_loops.h"
#include "compiler/program/cost_table.h"

namespace firn {
namespace {

using Nests = std::map<int, std::vector<int>>;  // by the outer loop: what stands in both

int64_t constant_trips(const KernelCode& code, int loop) {
    const KernelRegion& body = code.regions[code.nodes[loop].region];
    const KernelNode& extent = code.nodes[code.ranges[body.range].extent_node];
    return extent.op == KernelOp::Constant ? extent.constant.i : -1;
}

Nests find_nests(const KernelCode& code) {
    Nests out;
    std::vector<std::vector<int>> needs;  // found for the first nest: most kernels have none
    for (size_t id = 0; id < code.nodes.size(); ++id) {
        const int outer = static_cast<int>(id);
        if (code.nodes[id].op != KernelOp::For) continue;
        const int64_t trips = constant_trips(code, outer);
        const int inner = handed_through(code, outer);
        if (trips < 2 || trips > costs::kShortReduction || inner < 0) continue;
        const int64_t turns = constant_trips(code, inner);
        const KernelRegion& body = code.regions[code.nodes[inner].region];
        if (turns < 1 || turns > costs::kShortLoop || body.alive >= 0 || !body.effects.empty())
            continue;
        if (needs.empty()) needs = region_needs(code);
        std::vector<int> inside;
        bool plain = true;
        for (size_t k = 0; k < code.nodes.size(); ++k) {
            const auto stands_in = [&](int loop) {
                return std::count(needs[k].begin(), needs[k].end(), code.nodes[loop].region) > 0;
            };
            if (!stands_in(outer) && !stands_in(inner)) continue;
            inside.push_back(static_cast<int>(k));
            const KernelOp op = code.nodes[k].op;
            const bool another = op == KernelOp::For && static_cast<int>(k) != inner;
            plain = plain && !another && op != KernelOp::Branch;
        }
        if (plain && inside.size() <= costs::kSmallTerm) out[outer] = std::move(inside);
    }
    return out;
}

class Writer : public Rebuild {
  public:
    Writer(const KernelCode& from, KernelBuilder& b, const Nests& nests)
        : Rebuild(from, b), nests_(nests) {}

  protected:
    const std::vector<int>* written_out(int loop) const override {
        const auto it = nests_.find(loop);
        return it == nests_.end() ? nullptr : &it->second;
    }

  private:
    const Nests& nests_;
};

}  // namespace

KernelCode write_out_nests(KernelCode code, const SymbolFacts& facts) {
    const Nests nests = find_nests(code);
    if (nests.empty()) return code;
    KernelCode made;
    made.name = code.name;
    KernelBuilder b(made, facts);
    Writer(code, b, nests).copy_kernel();
    return made;
}

}  // namespace firn
