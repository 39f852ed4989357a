// The iterations of a loop, as a mapped kernel takes them.
#include "compiler/mapping/walk/deal_iterations.h"

#include <algorithm>

#include "compiler/target/cost_table.h"

namespace firn {
namespace {

bool divides(const Size& extent, int64_t factor) { return extent.divisor() % factor == 0; }

/// Iterations of a lane among `left` ones that are dealt one by one.
NodeId lane_iterations(KernelBuilder& b, NodeId left, int64_t lanes, NodeId lane) {
    return b.make(KernelOp::Div, i32,
                  {b.add(b.sub(left, lane), b.integer(lanes - 1)), b.integer(lanes)});
}

}  // namespace

Deal deal_iterations(const KernelBuilder& b, const Range& range, NodeId extent, int64_t unrolled,
                     int64_t lanes, bool blocks, bool aligned) {
    Deal deal{lanes, unrolled, 1};
    if (b.is_constant(extent)) {
        const int64_t trips = b.node(extent).as<Scalar>().i;
        if (lanes > 1)
            while (deal.unrolled > 1 && deal.unrolled * lanes > trips) deal.unrolled /= 2;
        else
            deal.unrolled = std::min<int64_t>(unrolled, std::max<int64_t>(1, trips));
    }
    const bool known = !range.extent.is(0);
    if (lanes > 1 && blocks && deal.unrolled % kBlockWidth == 0 && known &&
        (divides(range.extent, kBlockWidth) || aligned))
        deal.vector = kBlockWidth;
    return deal;
}

std::vector<Part> parts_of(KernelBuilder& b, const Range& range, NodeId extent, const Deal& deal,
                           NodeId lane) {
    // Mapping may have made the trip count a constant.
    const Size all = b.is_constant(extent) ? Size(b.node(extent).as<Scalar>().i) : range.extent;
    const bool symbolic = !all.is(0);
    const int64_t chunk = deal.unrolled * deal.lanes;
    if (chunk == 1) return {{deal, extent, all, b.integer(0), -1}};
    std::vector<Part> parts{{deal, b.make(KernelOp::Div, i32, {extent, b.integer(chunk)}),
                             symbolic ? floor_div(all, Size(chunk)) : Size(0), b.integer(0), -1}};
    if (symbolic && divides(all, chunk)) return parts;
    NodeId done = b.mul(parts[0].trips, b.integer(chunk));
    if (deal.lanes > 1 && deal.unrolled > costs::kSmallDeal) {
        const Deal small{deal.lanes, costs::kSmallDeal, deal.vector};
        const int64_t step = small.unrolled * small.lanes;
        const NodeId trips = b.make(KernelOp::Div, i32, {b.sub(extent, done), b.integer(step)});
        parts.push_back({small, trips, Size(0), done, deal.unrolled / small.unrolled, true});
        done = b.add(done, b.mul(trips, b.integer(step)));
        if (symbolic && divides(all, step)) return parts;
    }
    const Deal single{deal.lanes, 1, 1};
    const NodeId left = b.sub(extent, done);
    if (b.is_constant(left) && b.node(left).as<Scalar>().i == 0) return parts;
    if (deal.lanes == 1)
        parts.push_back({single, left, Size(0), done, deal.unrolled - 1, true});
    else
        parts.push_back({single, lane_iterations(b, left, deal.lanes, lane), Size(0), done,
                         std::min(deal.unrolled, costs::kSmallDeal), true});
    return parts;
}

Range range_of_part(const KernelBuilder& b, const Range& old, const Part& part) {
    Range range = old;
    if (part.max_trips >= 0)
        range.max_trips = part.max_trips;
    else if (range.max_trips >= 0)
        range.max_trips /= part.deal.unrolled * part.deal.lanes;
    range.extent_node = part.trips;
    range.extent = part.extent;
    range.rest = part.rest && !b.is_constant(part.trips);
    return range;
}

NodeId first_index(KernelBuilder& b, NodeId iteration, NodeId start, const Deal& deal,
                   const Size& extent, NodeId lane) {
    NodeId base = iteration;
    const int64_t chunk = deal.unrolled * deal.lanes;
    if (chunk > 1) base = b.mul(base, b.integer(chunk));
    if (deal.lanes > 1) base = b.add(base, b.mul(lane, b.integer(deal.vector)));
    base = b.add(base, start);
    if (chunk > 1 && !extent.is(0) && !b.is_constant(base))
        b.assume(base, Size(0), extent - Size(deal.at(deal.unrolled - 1) + 1));
    return base;
}

void JoinedLoops::count(KernelBuilder& b, Range& range) const {
    range.extent_node = levels_[0].trips;
    range.extent = levels_[0].extent;
    range.max_trips = levels_[0].max_trips;
    for (size_t k = 1; k < levels_.size(); ++k) {
        const Level& level = levels_[k];
        range.extent_node = b.mul(range.extent_node, level.trips);
        range.extent = range.extent * level.extent;
        const bool known =
            range.max_trips >= 0 && level.max_trips >= 0 &&
            (level.max_trips == 0 || range.max_trips <= INT64_MAX / 4 / level.max_trips);
        range.max_trips = known ? range.max_trips * level.max_trips : -1;
    }
    if (b.is_constant(range.extent_node))
        range.max_trips = b.node(range.extent_node).as<Scalar>().i;
}

void JoinedLoops::open(KernelBuilder& b, RegionId region) {
    for (Level& level : levels_) {
        level.index = b.region_arg(region, i32);
        const Size most(level.max_trips >= 0 ? level.max_trips : INT32_MAX);
        b.assume(level.index, Size(0), (level.extent.is(0) ? most : level.extent) - Size(1));
    }
}

std::vector<NodeId> JoinedLoops::next(KernelBuilder& b) const {
    if (levels_.empty()) return {};
    std::vector<NodeId> out(levels_.size());
    NodeId carry = b.boolean_value(true);
    for (size_t k = levels_.size(); k-- > 0;) {
        const NodeId up = b.add(levels_[k].index, b.integer(1));
        const NodeId end = b.make(KernelOp::LessEqual, boolean, {levels_[k].trips, up});
        const NodeId counted = k > 0 ? b.select(end, b.integer(0), up) : up;
        out[k] = b.select(carry, counted, levels_[k].index);
        carry = b.make(KernelOp::And, boolean, {carry, end});
    }
    return out;
}

}  // namespace firn
