// Dimensions of a lowered kernel's grid, which may share a range.
#include "compiler/mapping/before/grid_dimensions.h"

#include <iterator>
#include <set>
#include <utility>

#include "compiler/kernel/place.h"

namespace firn {
namespace {

/// Returns by node the d if the node is the range's index divided by d, else 0.
ByNode<int64_t> divisors_of(const KernelCode& code, RangeId range) {
    ByNode<int64_t> out(code.nodes.size());
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& n = code[id];
        if (n.op == KernelOp::Range && n.as<RangeId>() == range) out[id] = 1;
        if (n.op != KernelOp::Div) continue;
        const KernelNode& by = code[n.args[1]];
        if (by.op == KernelOp::Constant && by.as<Scalar>().i > 0)
            out[id] = out[n.args[0]] * by.as<Scalar>().i;
    }
    return out;
}

}  // namespace

std::vector<int64_t> dimensions_in(const KernelCode& code, RangeId range) {
    const ByNode<int64_t> divisors = divisors_of(code, range);
    std::set<int64_t> strides{1};
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& n = code[id];
        if (divisors[id] > 0) strides.insert(divisors[id]);
        if (n.op != KernelOp::Mod || divisors[n.args[0]] == 0) continue;
        const KernelNode& by = code[n.args[1]];
        if (by.op == KernelOp::Constant && by.as<Scalar>().i > 0)
            strides.insert(divisors[n.args[0]] * by.as<Scalar>().i);
    }
    const int64_t extent = code[range].extent.constant();
    strides.erase(strides.lower_bound(extent), strides.end());
    strides.insert(extent);
    std::vector<int64_t> out;
    for (auto at = strides.begin(); std::next(at) != strides.end(); ++at) {
        if (*std::next(at) % *at != 0) return {extent};
        out.push_back(*std::next(at) / *at);
    }
    return out;
}

Mapping mapping_of_lowered(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts,
                           ChooseMapping choose) {
    place(code);
    return choose(code, profile, facts);
}

}  // namespace firn
