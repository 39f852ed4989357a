// Short loops around short loops, iteration by iteration.
#include "compiler/mapping/before/unroll_nests.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/kernel/index_form.h"
#include "compiler/kernel/place.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/mapping/walk/loops_of_lanes.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

struct Nest {
    std::vector<NodeId> inside;  // nodes in both loops
    bool sums_apart = false;     // neighbours share sums of the outer one's iterations
};
using Nests = std::map<NodeId, Nest>;  // by the outer loop

int64_t constant_trips(const KernelCode& code, NodeId loop) {
    const KernelRegion& body = code[code[loop].as<BodyAttr>().region];
    const KernelNode& extent = code[code[body.range].extent_node];
    return extent.op == KernelOp::Constant ? extent.as<Scalar>().i : -1;
}

/// Returns whether the outer loop of a nest moves a window: all its carried values are sums, whose
/// terms depend on its index and on that of a range of the grid only by the sum of these two. Then
/// a copy of the body sums up in one iteration what its neighbour sums up in another.
bool moves_a_window(const KernelCode& code, NodeId outer, NodeId inner) {
    IndexForms forms(code);
    const RangeId iteration = code[code[outer].as<BodyAttr>().region].range;
    const KernelRegion& body = code[code[inner].as<BodyAttr>().region];
    std::vector<NodeId> waiting;
    for (size_t k = 0; k < body.yields.size(); ++k) {
        const auto term = gathered_term(code, body, k);
        if (!term || term->op != KernelOp::Add) return false;
        waiting.push_back(term->term);
    }
    std::set<NodeId> seen;
    RangeId along;  // the range of the grid
    while (!waiting.empty()) {
        const NodeId id = waiting.back();
        waiting.pop_back();
        if (!seen.insert(id).second) continue;
        const KernelNode& n = code[id];
        if (n.op == KernelOp::Range && n.as<RangeId>() == iteration) return false;
        const Size step = n.dtype == i32 ? coefficient_of(forms.of(id).sum, iteration) : Size(0);
        if (!step.is(0) && forms.of(id).is_sum()) {
            const auto& terms = forms.of(id).sum.terms;
            const auto with = std::find_if(terms.begin(), terms.end(), [&](const auto& term) {
                return code[term.first].kind == RangeKind::Grid && term.second == step;
            });
            if (with == terms.end() || (along && with->first != along)) return false;
            along = with->first;
            continue;
        }
        waiting.insert(waiting.end(), n.args.begin(), n.args.end());
    }
    return bool(along);
}

Nests find_nests(const KernelCode& code) {
    Nests out;
    ByNode<std::vector<RegionId>> needs;  // found for the first nest: most kernels have none
    for (NodeId outer : code.nodes.ids()) {
        if (code[outer].op != KernelOp::For) continue;
        const int64_t trips = constant_trips(code, outer);
        const NodeId inner = handed_through(code, outer);
        if (trips < 2 || trips > costs::kShortLoop || !inner) continue;
        const int64_t iterations = constant_trips(code, inner);
        const KernelRegion& body = code[code[inner].as<BodyAttr>().region];
        if (iterations < 1 || iterations > costs::kShortLoop || body.alive || !body.effects.empty())
            continue;
        if (needs.empty()) needs = region_needs(code);
        std::vector<NodeId> inside;
        bool plain = true;
        for (NodeId id : code.nodes.ids()) {
            const auto stands_in = [&](NodeId loop) {
                return std::count(needs[id].begin(), needs[id].end(),
                                  code[loop].as<BodyAttr>().region) > 0;
            };
            if (!stands_in(outer) && !stands_in(inner)) continue;
            inside.push_back(id);
            const KernelOp op = code[id].op;
            const bool another = op == KernelOp::For && id != inner;
            plain = plain && !another && op != KernelOp::Branch;
        }
        if (!plain || inside.size() > costs::kSmallTerm) continue;
        const bool apart = moves_a_window(code, outer, inner);
        if (apart || trips <= costs::kShortReduction) out[outer] = {std::move(inside), apart};
    }
    return out;
}

class Writer : public Rebuild {
  public:
    Writer(const KernelCode& from, KernelBuilder& b, const Nests& nests)
        : Rebuild(from, b), nests_(nests) {}

  protected:
    const std::vector<NodeId>* written_out(NodeId loop) const override {
        const auto it = nests_.find(loop);
        return it == nests_.end() ? nullptr : &it->second.inside;
    }
    bool sums_apart(NodeId loop) const override { return nests_.at(loop).sums_apart; }

  private:
    const Nests& nests_;
};

}  // namespace

KernelCode unroll_nests(KernelCode code, const SymbolFacts& facts) {
    const Nests nests = find_nests(code);
    if (nests.empty()) return code;
    KernelCode made;
    made.name = code.name;
    KernelBuilder b(made, facts);
    Writer(code, b, nests).copy_kernel();
    return made;
}

}  // namespace firn
