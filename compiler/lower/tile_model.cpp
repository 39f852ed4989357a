// What a register tile saves: copies of a body share what they do not differ in.
#include "compiler/lower/tile_model.h"

#include <algorithm>

#include "compiler/ir/op.h"
#include "compiler/lower/place.h"

namespace firn {
namespace {

constexpr double kUnknownTurns = 32;  // of a loop
constexpr double kMostTurns = 1024;   // more turns weigh the same
constexpr double kLoad = 1.0, kRepeatedLoad = 0.25,
                 kOperation = 0.1;  // ns of a subgroup on a CPU driver (limits.md, 2)

int64_t copies(uint64_t mask, const std::vector<int64_t>& tile) {
    int64_t count = 1;
    for (size_t d = 0; d < tile.size(); ++d)
        if (mask & (uint64_t{1} << d)) count *= tile[d];
    return count;
}

}  // namespace

TileModel::TileModel(KernelCode lowered, bool lanes_share) : lanes_share_(lanes_share) {
    place(lowered);
    for (size_t r = lowered.ranges.size(); r-- > 0;)
        if (lowered.ranges[r].kind == RangeKind::Grid) grid_.push_back(static_cast<int>(r));
    find_masks(lowered);
    visit(lowered, 0, 1);
}

uint64_t TileModel::mask_of(const KernelCode& code, const KernelNode& n) const {
    uint64_t mask = 0;
    if (n.op == Op::Range) {
        const auto at = std::find(grid_.begin(), grid_.end(), n.index);
        if (at != grid_.end())
            mask |= uint64_t{1} << std::min<int64_t>(at - grid_.begin(), 63);
        else
            for (size_t r = 0; r < code.regions.size(); ++r)
                if (code.regions[r].range == n.index && code.ranges[n.index].extent_node >= 0)
                    mask |= node_[code.ranges[n.index].extent_node];
    }
    if (n.op == Op::RegionArg) mask |= region_[n.region];
    for (int arg : n.args) mask |= node_[arg];
    if (n.op == Op::RowReduce) mask &= ~uint64_t{1};
    if (n.op != Op::For && n.op != Op::Branch) return mask;
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
            if (n.op == Op::For) region_[n.region] = mask;
        }
    }
}

void TileModel::visit(const KernelCode& code, int region_id, double runs) {
    const KernelRegion& region = code.regions[region_id];
    auto one = [&](int id) {
        const KernelNode& n = code.nodes[id];
        Share& share = shares_[node_[id]];
        ++share.nodes;
        share.loop_nodes += region_id != 0;
        if (n.op == Op::Load) {
            const bool repeated = !lanes_share_ && (node_[id] & 1) == 0 && region_id != 0;
            share.time += runs * (repeated ? kRepeatedLoad : kLoad);
            if (repeated) repeated_ |= node_[id];
        } else if (n.op == Op::For || n.op == Op::Branch) {
            if (n.op == Op::For && region_id == 0)
                share.carried += static_cast<int64_t>(n.args.size());
            const int range = code.regions[n.region].range;
            double turns = 1;
            if (range >= 0) {
                const int64_t most = code.ranges[range].max_trips;
                turns = most < 0 ? kUnknownTurns
                                 : std::clamp(static_cast<double>(most), 1.0, kMostTurns);
            }
            visit(code, n.region, runs * turns);
            if (n.else_region >= 0) visit(code, n.else_region, runs);
        } else if (n.op != Op::Result) {
            share.time += runs * kOperation * operation_cost(n.op);
        }
    };
    for (int id : region.order) one(id);
    for (int id : region.effects)
        if (std::find(region.order.begin(), region.order.end(), id) == region.order.end()) one(id);
}

double TileModel::time(const std::vector<int64_t>& tile) const {
    double total = 0;
    for (const auto& [mask, share] : shares_)
        total += share.time * static_cast<double>(copies(mask, tile));
    return total / static_cast<double>(copies(~uint64_t{0}, tile));
}

int64_t TileModel::nodes(const std::vector<int64_t>& tile) const {
    int64_t total = 0;
    for (const auto& [mask, share] : shares_) total += share.nodes * copies(mask, tile);
    return total;
}

int64_t TileModel::loop_nodes(const std::vector<int64_t>& tile) const {
    int64_t total = 0;
    for (const auto& [mask, share] : shares_) total += share.loop_nodes * copies(mask, tile);
    return total;
}

int64_t TileModel::carried(const std::vector<int64_t>& tile) const {
    int64_t total = 0;
    for (const auto& [mask, share] : shares_) total += share.carried * copies(mask, tile);
    return total;
}

}  // namespace firn
