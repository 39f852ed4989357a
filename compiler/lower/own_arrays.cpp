// Arrays of an invocation's own that lie in memory.
#include "compiler/lower/own_arrays.h"

#include <algorithm>

#include "compiler/program/index_limits.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

int64_t own_elements(const Node& array, size_t rank) {
    return element_count(own_shape(array, rank)).constant();
}

std::vector<const Node*> private_arrays(const Placement& placement) {
    std::vector<const Node*> out;
    for (const PlacedRegion& region : placement.regions)
        for (const Ref& node : region.order)
            if (node->op == Op::Array && !node->as<ArrayAttr>().shared) out.push_back(node.get());
    return out;
}

/// The largest, until the others are few enough together.
std::vector<const Node*> too_large(const Placement& placement, size_t rank, int64_t most) {
    std::vector<const Node*> out = private_arrays(placement);
    int64_t all = 0;
    for (const Node* array : out) all += own_elements(*array, rank);
    std::stable_sort(out.begin(), out.end(), [&](const Node* a, const Node* b) {
        return own_elements(*a, rank) > own_elements(*b, rank);
    });
    size_t count = 0;
    for (; count < out.size() && all > most; ++count) all -= own_elements(*out[count], rank);
    out.resize(count);
    return out;
}

}  // namespace

Shape own_shape(const Node& array, size_t rank) {
    const auto skip = static_cast<long>(array.op == Op::Array ? rank : 0);
    return Shape(array.shape.begin() + skip, array.shape.end());
}

Size OwnArrays::rows() const {
    const Size used = (groups ? Size(groups) : largest(total)) * Size(members);
    return ceil_div(used, lanes) * Size(lanes);
}

Size OwnArrays::slices() const { return groups ? ceil_div(largest(total), groups) : Size(1); }

OwnArrays choose_own_arrays(const Placement& placement, size_t rank, const Size& total,
                            const std::vector<uint32_t>& group, const DeviceProfile& profile,
                            const SymbolFacts& facts) {
    OwnArrays own;
    own.total = total;
    const ClassRules& rules = rules_of(profile);
    if (!rules.most_own) return own;
    int64_t bytes = 0, longest = 0;  // of a row
    for (const Node* array : too_large(placement, rank, rules.most_own)) {
        const int64_t elements = own_elements(*array, rank);
        own.arrays.insert(array);
        bytes += elements * array->dtype.bytes();
        longest = std::max(longest, elements);
    }
    if (own.arrays.empty()) return own;
    own.members = 1;
    for (uint32_t g : group) own.members *= g;
    own.lanes = profile.subgroup_size;
    const int64_t countable = kMostElements / longest / own.lanes * own.lanes,
                  least = ceil_div(own.members, own.lanes).constant() * own.lanes;
    if (countable < least)
        refuse_by_hand(**own.arrays.begin(), "the local arrays of a group of " +
                                                 std::to_string(own.members) +
                                                 " invocations are too large together; take a "
                                                 "smaller group or array");
    const int64_t busy = int64_t{profile.parallel_invocations} * rules.waves_of_loops,
                  rows = std::clamp(std::max(busy, costs::kOwnBytes / bytes), least, countable);
    own.groups = std::clamp<int64_t>(rows / own.members, 1, profile.max_groups[0]);
    if (total.upper_bound(facts.largest) <= own.groups) own.groups = 0;
    return own;
}

NodeId begin_of_row(KernelBuilder& b, const OwnArrays& own, NodeId row, int64_t elements) {
    const NodeId lanes = b.integer(own.lanes);
    const NodeId before = b.make(KernelOp::Div, i32, {row, lanes}),
                 lane = b.make(KernelOp::Mod, i32, {row, lanes});
    return b.add(b.mul(before, b.integer(own.lanes * elements)), lane);
}

}  // namespace firn
