// What a register tile saves: copies of a body share what they do not differ in.
#include "compiler/mapping/tile_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/ir/op.h"
#include "compiler/kernel/index_form.h"
#include "compiler/kernel/place.h"
#include "compiler/program/cost_table.h"

namespace firn {
namespace {

/// The Grid range and the Serial range whose sum it is, but for constants: -1 where there is none.
std::pair<int, int> two_ranges(const KernelCode& code, const IndexForm& form) {
    const auto& terms = form.sum.terms;
    if (terms.size() != 2 || !form.is_sum() || !form.sum.offset.is_constant() ||
        !terms[0].second.is(1) || !terms[1].second.is(1))
        return {-1, -1};
    const auto is_grid = [&](int range) { return code.ranges[range].kind == RangeKind::Grid; };
    const auto [first, second] = std::pair(terms[0].first, terms[1].first);
    if (is_grid(first) == is_grid(second)) return {-1, -1};
    return is_grid(first) ? std::pair(first, second) : std::pair(second, first);
}

/// Iterations of a loop that are computed at once.
int64_t iterations_at_once(const KernelCode& code, int region) {
    const int64_t most = code.ranges[code.regions[region].range].max_trips;
    return most > 0 && most <= costs::kShortLoop ? most : costs::kIterationsAtOnce;
}

}  // namespace

TileModel::TileModel(KernelCode lowered, bool lanes_share) : lanes_share_(lanes_share) {
    place(lowered);
    for (size_t r = lowered.ranges.size(); r-- > 0;)
        if (lowered.ranges[r].kind == RangeKind::Grid) grid_.push_back(static_cast<int>(r));
    find_masks(lowered);
    find_windows(lowered);
    visit(lowered, 0, 1);
}

uint64_t TileModel::mask_of(const KernelCode& code, const KernelNode& n) const {
    uint64_t mask = 0;
    if (n.op == KernelOp::Range) {
        const auto at = std::find(grid_.begin(), grid_.end(), n.range);
        if (at != grid_.end())
            mask |= uint64_t{1} << std::min<int64_t>(at - grid_.begin(), 63);
        else
            for (size_t r = 0; r < code.regions.size(); ++r)
                if (code.regions[r].range == n.range && code.ranges[n.range].extent_node >= 0)
                    mask |= node_[code.ranges[n.range].extent_node];
    }
    if (n.op == KernelOp::RegionArg) mask |= region_[n.region];
    for (int arg : n.args) mask |= node_[arg];
    if (n.op == KernelOp::RowReduce) mask &= ~uint64_t{1};
    if (n.op != KernelOp::For && n.op != KernelOp::Branch) return mask;
    for (int body : {n.region, n.else_region}) {
        if (body < 0) continue;
        const KernelRegion& region = code.regions[body];
        for (int y : region.yields) mask |= node_[y];
        for (int e : region.effects) mask |= node_[e];
        if (region.alive >= 0) mask |= node_[region.alive];
        if (region.range >= 0) mask |= node_[code.ranges[region.range].extent_node];
    }
    return mask;
}

void TileModel::find_masks(const KernelCode& code) {
    node_.assign(code.nodes.size(), 0);
    region_.assign(code.regions.size(), 0);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t id = 0; id < code.nodes.size(); ++id) {
            const KernelNode& n = code.nodes[id];
            const uint64_t mask = mask_of(code, n);
            if (mask == node_[id]) continue;
            node_[id] = mask;
            changed = true;
            if (n.op == KernelOp::For) region_[n.region] = mask;
        }
    }
}

TileModel::Window TileModel::window_of_sum(const KernelCode& code, const IndexForm& form) const {
    const auto [grid, turn] = two_ranges(code, form);
    const auto at = std::find(grid_.begin(), grid_.end(), grid);
    if (turn < 0 || at == grid_.end() || at - grid_.begin() > 63) return {};
    for (size_t r = 0; r < code.regions.size(); ++r) {
        if (code.regions[r].range != turn) continue;
        const auto& order = code.regions[r].order;
        const bool innermost = std::none_of(
            order.begin(), order.end(), [&](int n) { return code.nodes[n].op == KernelOp::For; });
        if (innermost) return {uint64_t{1} << (at - grid_.begin()), static_cast<int>(r)};
    }
    return {};
}

void TileModel::find_windows(const KernelCode& code) {
    const std::vector<std::vector<int>> needs = region_needs(code);
    auto iterations_with = [&](int id, int region) {
        return std::find(needs[id].begin(), needs[id].end(), region) != needs[id].end();
    };
    IndexForms forms(code);
    windows_.assign(code.nodes.size(), {});
    for (size_t id = 0; id < code.nodes.size(); ++id) {
        const KernelNode& n = code.nodes[id];
        if (n.op != KernelOp::Load && !is_elementwise(n.op)) continue;
        Window& window = windows_[id];
        if (n.dtype == i32) window = window_of_sum(code, forms.of(static_cast<int>(id)));
        if (window.along) continue;
        for (int arg : n.args)
            if (windows_[arg].along) {
                window.along |= windows_[arg].along;
                window.region = windows_[arg].region;
            }
        for (int arg : n.args) {
            const Window& of = windows_[arg];
            const bool apart = of.along ? of.region != window.region
                                        : window.along && iterations_with(arg, window.region);
            if (apart) window = {};
            // Along what it depends on otherwise too, every copy has its own.
            window.along &= ~(node_[arg] & ~of.along);
        }
    }
}

TileModel::Part TileModel::part_of(const KernelCode& code, int id) const {
    const Window& window = windows_[id];
    if (!window.along) return {node_[id], 0, 1};
    return {node_[id] & ~window.along, window.along, iterations_at_once(code, window.region)};
}

double TileModel::Part::copies(const std::vector<int64_t>& tile) const {
    double count = 1;
    for (size_t d = 0; d < tile.size(); ++d) {
        const auto along_range = static_cast<double>(tile[d]),
                   at_once = static_cast<double>(iterations);
        if (mask & (uint64_t{1} << d)) count *= along_range;
        if (along & (uint64_t{1} << d)) count *= (along_range + at_once - 1) / at_once;
    }
    return count;
}

void TileModel::visit(const KernelCode& code, int region_id, double runs) {
    const KernelRegion& region = code.regions[region_id];
    auto one = [&](int id) {
        const KernelNode& n = code.nodes[id];
        Share& share = shares_[part_of(code, id)];
        ++share.nodes;
        share.loop_nodes += region_id != 0;
        if (n.op == KernelOp::Load) {
            const bool repeated = !lanes_share_ && (node_[id] & 1) == 0 && region_id != 0;
            share.time += runs * (repeated ? costs::kRepeatedLoad : costs::kLoad);
            if (repeated) repeated_ |= node_[id];
        } else if (n.op == KernelOp::For || n.op == KernelOp::Branch) {
            if (n.op == KernelOp::For && region_id == 0)
                share.carried += static_cast<int64_t>(n.args.size());
            const int range = code.regions[n.region].range;
            double iterations = 1;
            if (range >= 0) {
                const int64_t most = code.ranges[range].max_trips;
                iterations =
                    most < 0 ? costs::kUnknownTrips
                             : std::clamp(static_cast<double>(most), 1.0, costs::kMostCountedTrips);
            }
            visit(code, n.region, runs * iterations);
            if (n.else_region >= 0) visit(code, n.else_region, runs);
        } else if (n.op != KernelOp::Result) {
            share.time += runs * costs::kOperation * operation_cost(n.op);
        }
    };
    for (int id : region.order) one(id);
    for (int id : region.effects)
        if (std::find(region.order.begin(), region.order.end(), id) == region.order.end()) one(id);
}

double TileModel::time(const std::vector<int64_t>& tile) const {
    double total = 0, all = 1;
    for (const auto& [part, share] : shares_) total += share.time * part.copies(tile);
    for (int64_t t : tile) all *= static_cast<double>(t);
    return total / all;
}

int64_t TileModel::total(int64_t Share::*what, const std::vector<int64_t>& tile) const {
    double sum = 0;
    for (const auto& [part, share] : shares_)
        sum += static_cast<double>(share.*what) * part.copies(tile);
    return std::llround(sum);
}

int64_t TileModel::nodes(const std::vector<int64_t>& tile) const {
    return total(&Share::nodes, tile);
}

int64_t TileModel::loop_nodes(const std::vector<int64_t>& tile) const {
    return total(&Share::loop_nodes, tile);
}

int64_t TileModel::carried(const std::vector<int64_t>& tile) const {
    return total(&Share::carried, tile);
}

}  // namespace firn
