// Dimensions of a lowered kernel's grid, which may share a range.
#include "compiler/mapping/before/grid_dimensions.h"

#include <iterator>
#include <set>
#include <utility>

#include "compiler/kernel/place.h"

namespace firn {
namespace {

/// Returns by node the d if the node is the range's index divided by d, else 0.
std::vector<int64_t> divisors_of(const KernelCode& code, int range) {
    std::vector<int64_t> out(code.nodes.size());
    for (size_t id = 0; id < code.nodes.size(); ++id) {
        const KernelNode& n = code.nodes[id];
        if (n.op == KernelOp::Range && static_cast<int>(n.range) == range) out[id] = 1;
        if (n.op != KernelOp::Div) continue;
        const KernelNode& by = code.nodes[static_cast<size_t>(n.args[1])];
        if (by.op == KernelOp::Constant && by.constant.i > 0)
            out[id] = out[static_cast<size_t>(n.args[0])] * by.constant.i;
    }
    return out;
}

}  // namespace

std::vector<int64_t> dimensions_in(const KernelCode& code, int range) {
    const std::vector<int64_t> divisors = divisors_of(code, range);
    std::set<int64_t> strides{1};
    for (size_t id = 0; id < code.nodes.size(); ++id) {
        const KernelNode& n = code.nodes[id];
        if (divisors[id] > 0) strides.insert(divisors[id]);
        if (n.op != KernelOp::Mod || divisors[static_cast<size_t>(n.args[0])] == 0) continue;
        const KernelNode& by = code.nodes[static_cast<size_t>(n.args[1])];
        if (by.op == KernelOp::Constant && by.constant.i > 0)
            strides.insert(divisors[static_cast<size_t>(n.args[0])] * by.constant.i);
    }
    const int64_t extent = code.ranges[static_cast<size_t>(range)].extent.constant();
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
