// Dimensions that share a range of the grid have ranges of their own.
#include "compiler/mapping/separate_ranges.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compiler/kernel/place.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/mapping/map.h"
#include "compiler/program/device_class.h"

namespace firn {
namespace {

/// The last range of the grid, along which lanes lie; -1: there is none.
int last_range(const KernelCode& code) {
    int out = -1;
    for (size_t r = 0; r < code.ranges.size(); ++r)
        if (code.ranges[r].kind == RangeKind::Grid) out = static_cast<int>(r);
    return out;
}

/// By node: the d where it is the range's index divided by d, 0 elsewhere.
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

/// The extents of the dimensions that are joined in the range, the last one first; one alone where
/// none are.
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

KernelCode with_ranges(const KernelCode& code, int joined, const std::vector<int64_t>& extents,
                       const SymbolFacts& facts) {
    KernelCode out;
    out.name = code.name;
    KernelBuilder b(out, facts);
    Rebuild rebuild(code, b);
    for (size_t r = 0; r < code.ranges.size(); ++r)
        if (code.ranges[r].kind == RangeKind::Grid && static_cast<int>(r) != joined)
            rebuild.bind_grid(static_cast<int>(r), b.range(b.add_range(code.ranges[r])));
    int index = b.integer(0);
    int64_t stride = 1;
    for (int64_t extent : extents) stride *= extent;
    for (size_t k = extents.size(); k-- > 0;) {
        Range range = code.ranges[static_cast<size_t>(joined)];
        range.extent = Size(extents[k]);
        stride /= extents[k];
        index = b.add(index, b.mul(b.range(b.add_range(range)), b.integer(stride)));
    }
    rebuild.bind_grid(joined, index);
    std::vector<int> effects = rebuild.effects(0);
    out.regions[0].effects = std::move(effects);
    return out;
}

Mapping mapping_of(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts) {
    place(code);
    return choose_mapping(code, profile, facts);
}

/// Lanes share each index, in a tile along one of the first `ranges` of the grid, x first.
bool shares_along(const Mapping& mapping, size_t ranges) {
    return mapping.lanes > 1 &&
           std::any_of(mapping.tile.begin(), mapping.tile.begin() + static_cast<long>(ranges),
                       [](int64_t copies) { return copies > 1; });
}

}  // namespace

KernelCode separate_ranges(KernelCode code, const DeviceProfile& profile,
                           const SymbolFacts& facts) {
    const int range = last_range(code);
    if (!lanes_share(profile) || range < 0 ||
        !code.ranges[static_cast<size_t>(range)].extent.is_constant())
        return code;
    const std::vector<int64_t> extents = dimensions_in(code, range);
    if (extents.size() < 2 || mapping_of(code, profile, facts).lanes == 1) return code;
    KernelCode out = with_ranges(code, range, extents, facts);
    return shares_along(mapping_of(out, profile, facts), extents.size()) ? out : code;
}

}  // namespace firn
