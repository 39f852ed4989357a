// Models what a register tile saves: copies of a body share the values that do not differ between
// them.
#include "compiler/mapping/choice/tile_model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "compiler/ir/op.h"
#include "compiler/kernel/index_form.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/choice/moved_nodes.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {}  // namespace

TileModel::TileModel(KernelCode lowered, bool lanes_share, int64_t written_out)
    : lanes_share_(lanes_share), written_out_(written_out) {
    place(lowered);
    for (RangeId range : lowered.ranges.ids())
        if (lowered[range].kind == RangeKind::Grid) grid_.push_back(range);
    std::reverse(grid_.begin(), grid_.end());
    find_masks(lowered);
    find_windows(lowered);
    find_meetings(lowered);
    visit(lowered, kRoot, 1, false);
}

/// Iterations of a loop that are computed at once.
int64_t TileModel::iterations_at_once(const KernelCode& code, RegionId region) const {
    const int64_t most = code[code[region].range].max_trips;
    return most > 0 && most <= written_out_ ? most : costs::kIterationsAtOnce;
}

uint64_t TileModel::mask_of(const KernelCode& code, const KernelNode& n) const {
    uint64_t mask = 0;
    if (const auto* range = n.get_if<RangeId>()) {
        const auto at = std::find(grid_.begin(), grid_.end(), *range);
        if (at != grid_.end())
            mask |= uint64_t{1} << std::min<int64_t>(at - grid_.begin(), 63);
        else
            for (RegionId r : code.regions.ids())
                if (code[r].range == *range && code[*range].extent_node)
                    mask |= node_[code[*range].extent_node];
    }
    if (const auto* carried = n.get_if<CarriedAttr>()) mask |= region_[carried->region];
    for (NodeId arg : n.args) mask |= node_[arg];
    if (n.op == KernelOp::RowReduce) mask &= ~uint64_t{1};
    for (RegionId body : bodies(n)) {
        const KernelRegion& region = code[body];
        for (NodeId y : region.yields) mask |= node_[y];
        for (NodeId e : region.effects) mask |= node_[e];
        if (region.alive) mask |= node_[region.alive];
        if (region.range) mask |= node_[code[region.range].extent_node];
    }
    return mask;
}

void TileModel::find_masks(const KernelCode& code) {
    node_.assign(code.nodes.size(), 0);
    region_.assign(code.regions.size(), 0);
    for (bool changed = true; changed;) {
        changed = false;
        for (NodeId id : code.nodes.ids()) {
            const KernelNode& n = code[id];
            const uint64_t mask = mask_of(code, n);
            if (mask == node_[id]) continue;
            node_[id] = mask;
            changed = true;
            if (n.op == KernelOp::For) region_[n.as<BodyAttr>().region] = mask;
        }
    }
}

/// A step along the range is a step of an innermost loop. Others may add to the sum.
TileModel::Window TileModel::window_of_sum(const KernelCode& code, const IndexForm& form) const {
    if (!form.is_sum() || !form.sum.offset.is_constant()) return {};
    const auto loop_of = [&](RangeId range) {
        for (RegionId r : code.regions.ids())
            if (code[r].range == range && is_innermost(code, code[r])) return r;
        return RegionId();
    };
    for (const auto& [serial, step] : form.sum.terms) {
        if (code[serial].kind != RangeKind::Serial) continue;
        for (const auto& [grid, stride] : form.sum.terms) {
            const auto at = std::find(grid_.begin(), grid_.end(), grid);
            if (at == grid_.end() || at - grid_.begin() > 63 || stride != step) continue;
            const RegionId region = loop_of(serial);
            if (region) return {uint64_t{1} << (at - grid_.begin()), region};
        }
    }
    return {};
}

void TileModel::find_windows(const KernelCode& code) {
    const ByNode<std::vector<RegionId>> needs = region_needs(code);
    auto iterations_with = [&](NodeId id, RegionId region) {
        return std::find(needs[id].begin(), needs[id].end(), region) != needs[id].end();
    };
    IndexForms forms(code);
    windows_.assign(code.nodes.size(), {});
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& n = code[id];
        if (n.op != KernelOp::Load && !is_elementwise(n.op)) continue;
        Window& window = windows_[id];
        if (n.dtype == i32) window = window_of_sum(code, forms.of(id));
        if (window.along) continue;
        for (NodeId arg : n.args)
            if (windows_[arg].along) {
                window.along |= windows_[arg].along;
                window.region = windows_[arg].region;
            }
        for (NodeId arg : n.args) {
            const Window& of = windows_[arg];
            const bool apart = of.along ? of.region != window.region
                                        : window.along && iterations_with(arg, window.region);
            if (apart) window = {};
            // Copies also have their own value along every other range that it depends on.
            window.along &= ~(node_[arg] & ~of.along);
        }
    }
}

/// Nodes that are the same but for constant steps along the range, by their steps: one is another
/// one's for copies that stand as far apart. Loops that are written out count as one another's
/// iterations.
void TileModel::find_meetings(const KernelCode& code) {
    MovedNodes moved(code, written_out_);
    for (size_t d = 0; d < std::min<size_t>(grid_.size(), 63); ++d)
        for (const auto& [family, nodes] : moved.along(grid_[d]))
            if (nodes.size() > 1) meet(nodes, static_cast<int>(d));
}

void TileModel::meet(const std::map<int64_t, std::vector<NodeId>>& nodes, int range) {
    std::set<int64_t> left;
    for (const auto& [step, ids] : nodes) left.insert(step);
    while (!left.empty()) {
        // Goes from the first one on, in steps that a tile may have.
        const int64_t first = *left.begin();
        std::vector<int64_t> members{first};
        for (int64_t steps = 1; steps < costs::kLongestTile; ++steps)
            if (left.contains(members.back() + steps)) {
                members.push_back(members.back() + steps);
                steps = 0;
            }
        for (int64_t step : members) left.erase(step);
        const auto count = static_cast<int64_t>(members.size());
        if (count == 1) continue;
        for (int64_t step : members)
            for (NodeId id : nodes.at(step))
                meetings_[id].push_back({range, count, members.back() - first});
    }
}

TileModel::Part TileModel::part_of(const KernelCode& code, NodeId id) const {
    Part part{node_[id], {}};
    const auto add = [&](const Meeting& meeting) {
        const uint64_t bit = uint64_t{1} << meeting.range;
        if (!(part.mask & bit)) return;
        part.mask &= ~bit;
        part.meetings.push_back(meeting);
    };
    const Window& window = windows_[id];
    for (int range = 0; range < 64; ++range)
        if (window.along & (uint64_t{1} << range)) {
            const int64_t iterations = iterations_at_once(code, window.region);
            add({range, iterations, iterations - 1});
        }
    if (const auto at = meetings_.find(id); at != meetings_.end())
        for (const Meeting& meeting : at->second) add(meeting);
    return part;
}

double TileModel::Part::copies(const std::vector<int64_t>& tile) const {
    double count = 1;
    for (size_t d = 0; d < tile.size(); ++d)
        if (mask & (uint64_t{1} << d)) count *= static_cast<double>(tile[d]);
    for (const Meeting& meeting : meetings) {
        const auto along = static_cast<double>(tile[static_cast<size_t>(meeting.range)]);
        count *= std::min(along, (along + static_cast<double>(meeting.span)) /
                                     static_cast<double>(meeting.members));
    }
    return count;
}

void TileModel::visit(const KernelCode& code, RegionId region_id, double runs, bool in_loop) {
    const KernelRegion& region = code[region_id];
    const bool innermost = region.range && is_innermost(code, region);
    auto one = [&](NodeId id) {
        const KernelNode& n = code[id];
        Share& share = shares_[part_of(code, id)];
        ++share.nodes;
        share.operations += operations_of(n);
        share.loop_nodes += in_loop;
        if (innermost) ++share.inner_nodes, share.inner_operations += operations_of(n);
        has_windows_ |= n.op == KernelOp::Load && windows_[id].along != 0;
        if (n.op == KernelOp::Load) {
            const bool repeated = !lanes_share_ && (node_[id] & 1) == 0 && in_loop;
            share.time += runs * (repeated ? costs::kRepeatedLoad : costs::kLoad);
            if (repeated) repeated_ |= node_[id];
        } else if (n.op == KernelOp::For || n.op == KernelOp::Branch) {
            if (n.op == KernelOp::For && !in_loop)
                share.carried += static_cast<int64_t>(n.args.size());
            for (RegionId body : bodies(n)) {
                const RangeId range = code[body].range;
                double iterations = 1;
                if (range) {
                    const int64_t most = code[range].max_trips;
                    iterations = most < 0 ? costs::kUnknownTrips
                                          : std::clamp(static_cast<double>(most), 1.0,
                                                       costs::kMostCountedTrips);
                }
                visit(code, body, runs * iterations, in_loop || !n.guard);
            }
        } else if (n.op != KernelOp::Result) {
            share.time += runs * costs::kOperation * operation_cost(n.op);
        }
    };
    for (NodeId id : region.order) one(id);
    for (NodeId id : region.effects)
        if (std::find(region.order.begin(), region.order.end(), id) == region.order.end()) one(id);
}

double TileModel::time(const std::vector<int64_t>& tile) const {
    double total = 0, all = 1;
    for (const auto& [part, share] : shares_) total += share.time * part.copies(tile);
    for (int64_t t : tile) all *= static_cast<double>(t);
    return total / all;
}

template <class Number>
double TileModel::total(Number Share::*what, const std::vector<int64_t>& tile) const {
    double sum = 0;
    for (const auto& [part, share] : shares_)
        sum += static_cast<double>(share.*what) * part.copies(tile);
    return sum;
}

int64_t TileModel::nodes(const std::vector<int64_t>& tile) const {
    return std::llround(total(&Share::nodes, tile));
}

int64_t TileModel::loop_nodes(const std::vector<int64_t>& tile) const {
    return std::llround(total(&Share::loop_nodes, tile));
}

int64_t TileModel::carried(const std::vector<int64_t>& tile) const {
    return std::llround(total(&Share::carried, tile));
}

TileModel::Body TileModel::body(const std::vector<int64_t>& tile, int64_t iterations) const {
    const auto more = static_cast<double>(iterations - 1);
    return {std::llround(total(&Share::loop_nodes, tile) + more * total(&Share::inner_nodes, tile)),
            total(&Share::operations, tile) + more * total(&Share::inner_operations, tile)};
}

}  // namespace firn
