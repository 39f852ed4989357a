// Effects of the lowered kernel in the copies of its body that an invocation has.
#include "compiler/mapping/walk/copy_effects.h"

#include <algorithm>
#include <span>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/mapping/walk/accumulators.h"
#include "compiler/mapping/walk/bound_iteration.h"
#include "compiler/mapping/walk/copy_values.h"
#include "compiler/mapping/walk/jam_loops.h"
#include "compiler/mapping/walk/mapping_run.h"
#include "compiler/mapping/walk/parts_of_loop.h"
#include "compiler/mapping/walk/store_rows.h"

namespace firn {
namespace {

void copy_effect(MappingRun& run, NodeId effect, size_t copy, std::vector<NodeId>& effects);

/// A loop with effects and values of its own.
NodeId copy_loop(MappingRun& run, const KernelNode& n, size_t copy) {
    const Scoped<Surroundings> apart(run.around, run.around.apart());
    KernelBuilder& b = run.b;
    const RegionId old_region = n.as<BodyAttr>().region;
    const KernelRegion& old = run.from[old_region];
    std::vector<NodeId> inits, yields, inside, args;
    for (NodeId init : n.args) inits.push_back(copy_value(run, init, copy));
    Range range = run.from[old.range];
    range.extent_node = copy_value(run, range.extent_node, copy);
    const RangeId range_id = b.add_range(range);
    const RegionId region = b.add_region();
    b.code()[region].range = range_id;
    for (NodeId arg : old.args) args.push_back(b.region_arg(region, run.from[arg].dtype));
    const BoundIteration bound(run, old_region, {&copy, 1}, b.range(range_id), {&args, 1});
    std::vector<RegionId> of_one_copy = run.of_one_copy;
    of_one_copy.push_back(old_region);
    const Scoped<std::vector<RegionId>> alone(run.of_one_copy, std::move(of_one_copy));
    for (NodeId e : old.effects) copy_effect(run, e, copy, inside);
    for (NodeId y : old.yields) yields.push_back(copy_value(run, y, copy));
    const NodeId alive = old.alive ? copy_value(run, old.alive, copy) : NodeId();
    KernelRegion& body = b.code()[region];
    body.effects = std::move(inside);
    body.yields = std::move(yields);
    body.alive = alive;
    b.set_lines(n.lines);
    return b.close_for(region, std::move(inits));
}

NodeId copy_branch(MappingRun& run, const KernelNode& n, size_t copy) {
    const auto& own = n.as<BodyAttr>();
    ensure(!own.else_region, "map: an effect with two sides");
    const NodeId condition = copy_value(run, n.args[0], copy);
    if (const NodeId store = accumulate_or_drop(run, n, condition, copy)) return store;
    std::vector<NodeId> inside;
    for (NodeId e : run.from[own.region].effects) copy_effect(run, e, copy, inside);
    const RegionId region = run.b.add_region();
    run.b.code()[region].effects = std::move(inside);
    run.b.set_lines(n.lines);
    return run.b.branch(condition, region, {}, n.guard);
}

/// Stores one element, at a computed index.
NodeId copy_store(MappingRun& run, const KernelNode& n, size_t copy) {
    const Scoped<Surroundings> apart(run.around, run.around.apart());
    const NodeId index = copy_value(run, n.args[0], copy), value = copy_value(run, n.args[1], copy);
    run.b.set_lines(n.lines);
    const auto& access = n.as<AccessAttr>();
    const int near = run.accumulators ? run.accumulators->copy_of(access.buffer) : -1;
    const int buffer =
        near >= 0 ? near : bound_buffer(run, run.from.buffers[access.buffer], true, 1);
    return n.op == KernelOp::Atomic ? run.b.atomic(buffer, access.combine, index, value)
                                    : run.b.store(buffer, index, std::span(&value, 1));
}

void copy_effect(MappingRun& run, NodeId effect, size_t copy, std::vector<NodeId>& effects) {
    const KernelNode& n = run.from[effect];
    switch (n.op) {
        case KernelOp::For: effects.push_back(copy_loop(run, n, copy)); break;
        case KernelOp::Branch: effects.push_back(copy_branch(run, n, copy)); break;
        default: effects.push_back(copy_store(run, n, copy));
    }
}

/// Stores of the copies along x from `first` on, of neighbours together.
void store_tile(MappingRun& run, const KernelNode& n, size_t first, std::vector<NodeId>& effects) {
    std::vector<NodeId> index, value;
    for (size_t v = 0; v < static_cast<size_t>(run.mapping.tile_of(0)); ++v) {
        index.push_back(copy_value(run, n.args[0], first + v));
        value.push_back(copy_value(run, n.args[1], first + v));
    }
    store_run(run, n, index, value, effects);
}

/// The same behind a condition that is the same for these copies, and guards only stores. Returns
/// false if there is none.
bool branch_tile(MappingRun& run, const KernelNode& n, size_t first, std::vector<NodeId>& effects) {
    const auto& own = n.as<BodyAttr>();
    const std::vector<NodeId>& behind = run.from[own.region].effects;
    const auto stores = [&](NodeId e) { return run.from[e].op == KernelOp::Store; };
    if (own.else_region || !std::all_of(behind.begin(), behind.end(), stores)) return false;
    const NodeId condition = copy_value(run, n.args[0], first);
    for (size_t v = 1; v < static_cast<size_t>(run.mapping.tile_of(0)); ++v)
        if (copy_value(run, n.args[0], first + v) != condition) return false;
    const Scoped<Surroundings> apart(run.around, run.around.apart());
    std::vector<NodeId> inside;
    for (NodeId e : behind) store_tile(run, run.from[e], first, inside);
    const RegionId region = run.b.add_region();
    run.b.code()[region].effects = std::move(inside);
    run.b.set_lines(n.lines);
    effects.push_back(run.b.branch(condition, region, {}, n.guard));
    return true;
}

bool only_stores(const MappingRun& run, const std::vector<NodeId>& effects) {
    return std::all_of(effects.begin(), effects.end(), [&](NodeId e) {
        const KernelNode& n = run.from[e];
        if (n.op != KernelOp::Branch) return n.op == KernelOp::Store;
        const auto& own = n.as<BodyAttr>();
        return !own.else_region && only_stores(run, run.from[own.region].effects);
    });
}

/// Several copies that take the same iterations of a loop, and only store in them, take it
/// together, so that neighbours are stored together. One copy takes several iterations together,
/// which may be neighbours in memory too.
bool takes_together(const MappingRun& run, const KernelNode& n) {
    const RegionId region = n.as<BodyAttr>().region;
    const KernelRegion& body = run.from[region];
    const bool several =
        run.copies.size() > 1 || (run.mapping.unroll > 1 && is_innermost(run, region));
    return several && run.mapping.lanes == 1 && !body.alive && !run.around.in_branch &&
           !run.varies[run.from[body.range].extent_node] && only_stores(run, body.effects);
}

/// Returns the parts of the loop as few as possible, one if there can be one: no other part needs a
/// value of a loop that stores.
std::vector<Part> one_part(MappingRun& run, NodeId loop) {
    std::vector<Part> parts = parts_of_loop(run, loop, 0);
    const KernelRegion& body = run.from[run.from[loop].as<BodyAttr>().region];
    const NodeId extent = copy_value(run, run.from[body.range].extent_node, 0);
    for (int64_t unrolled = parts[0].deal.unrolled; parts.size() > 1;)
        parts = deal_loop(run, loop, extent, unrolled /= 2);
    return parts;
}

void take_together(MappingRun& run, NodeId loop, std::vector<NodeId>& effects) {
    const KernelNode& n = run.from[loop];
    Scoped<std::vector<NodeId>> inside(run.effects, {});
    Jam jam{loop, {}, {}, true};
    Carried values;
    for (size_t copy = 0; copy < run.copies.size(); ++copy) {
        jam.group.push_back(copy);
        values.emplace_back();
        for (NodeId init : n.args) values[copy].push_back(copy_value(run, init, copy));
    }
    for (const Part& part : one_part(run, loop))
        values = jam_loop(run, jam, part, std::move(values));
    const std::vector<NodeId> made = inside.end();
    effects.insert(effects.end(), made.begin(), made.end());
}

}  // namespace

void build_effect(MappingRun& run, NodeId effect, std::vector<std::vector<NodeId>>& by_copy) {
    const KernelNode& n = run.from[effect];
    if (n.op == KernelOp::For && takes_together(run, n))
        return take_together(run, effect, by_copy[0]);
    const bool row = is_row(run, effect);
    const auto width = static_cast<size_t>(run.mapping.tile_of(0));
    // Returns whether all its indices lie behind the end.
    const auto is_outside = [&](size_t copy) {
        const NodeId inside = run.copies[copy].inside;
        return inside && run.b.is_constant(inside);
    };
    const auto tiled = [&](size_t first) {
        const size_t last = first + width - 1;
        if (row || run.copies[first].inside != run.copies[last].inside || is_outside(first))
            return false;
        if (n.op != KernelOp::Store)
            return n.op == KernelOp::Branch && branch_tile(run, n, first, by_copy[first]);
        store_tile(run, n, first, by_copy[first]);
        return true;
    };
    for (size_t first = 0; first < run.copies.size(); first += width) {
        if (tiled(first)) continue;
        for (size_t copy = first; copy < first + width; ++copy) {
            if (is_outside(copy)) continue;
            if (row)
                walk_row(run, effect, copy, by_copy[copy]);
            else
                copy_effect(run, effect, copy, by_copy[copy]);
        }
    }
}

}  // namespace firn
