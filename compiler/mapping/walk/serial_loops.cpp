// Builds loops of the lowered kernel that give values.
#include "compiler/mapping/walk/serial_loops.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "compiler/ir/builder.h"
#include "compiler/mapping/walk/collapse_nests.h"
#include "compiler/mapping/walk/copy_values.h"
#include "compiler/mapping/walk/jam_loops.h"
#include "compiler/mapping/walk/mapping_run.h"
#include "compiler/mapping/walk/parts_of_loop.h"
#include "compiler/mapping/walk/staged_operands.h"

namespace firn {
namespace {

/// The loop uses an index or carried values of a loop that one copy runs by itself.
bool belongs_to_one_copy(const MappingRun& run, NodeId id) {
    const std::vector<RegionId>& needs = run.needs[id];
    return std::any_of(run.of_one_copy.begin(), run.of_one_copy.end(), [&](RegionId region) {
        return std::find(needs.begin(), needs.end(), region) != needs.end();
    });
}

/// The copies that run a loop together with one of them; the first, where it is the same in all.
std::vector<size_t> jammed_with(const MappingRun& run, NodeId id, size_t copy) {
    if (belongs_to_one_copy(run, id)) return {copy};
    if (!run.varies[id]) return {0};
    const KernelRegion& body = run.from[run.from[id].as<BodyAttr>().region];
    const bool jam = !run.varies[run.from[body.range].extent_node] && !run.around.in_branch;
    if (!jam) return {copy};
    std::vector<size_t> all(run.copies.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
}

Carried build_loop(MappingRun& run, NodeId id, const std::vector<size_t>& group, Carried values) {
    if (run.staged.contains(id) && !run.around.in_branch)
        return build_staged_loop(run, id, group, std::move(values));
    Jam jam{{}, joined_nest(run, id, group[0]), group};
    jam.loop = jam.around.back();
    jam.around.pop_back();
    for (const Part& part : parts_of_loop(run, jam.loop, group[0]))
        values = jam_loop(run, jam, part, std::move(values));
    return values;
}

/// Combines the lanes' parts of carried value k, which began at `init`.
NodeId combine_lanes(MappingRun& run, const KernelNode& loop, std::span<const LaneCombine> combine,
                     size_t k, NodeId init, const std::vector<NodeId>& parts) {
    run.b.set_lines(loop.lines);
    const LaneCombine& by = combine[k];
    const DType dtype = run.b.node(parts[k]).dtype;
    NodeId part = parts[k];
    if (by.position_of >= 0) {
        const NodeId own = parts[by.position_of],
                     best = run.b.subgroup_reduce(combine[by.position_of].reduce, own);
        part = run.b.select(run.b.make(KernelOp::Equal, boolean, {own, best}), part, init);
    }
    const NodeId all = run.b.subgroup_reduce(by.reduce, part);
    if (init == run.b.constant(reduce_identity(by.reduce, dtype))) return all;
    return run.b.make(by.step, dtype, {init, all});
}

/// The results for a group of copies.
Carried group_results(MappingRun& run, NodeId id, const std::vector<size_t>& group) {
    const KernelNode& n = run.from[id];
    const auto shared = run.shared.find(id);
    const std::span<const LaneCombine> combine =
        shared == run.shared.end() ? std::span<const LaneCombine>() : shared->second.combine;
    Carried inits(group.size());
    for (size_t g = 0; g < group.size(); ++g)
        for (NodeId init : n.args) inits[g].push_back(copy_value(run, init, group[g]));
    Carried starts = inits;
    for (std::vector<NodeId>& start : starts)
        for (size_t k = 0; k < combine.size(); ++k)
            start[k] =
                run.b.constant(reduce_identity(combine[k].reduce, run.from[n.args[k]].dtype));
    Carried values = build_loop(run, id, group, std::move(starts));
    for (size_t g = 0; g < group.size(); ++g) {
        const std::vector<NodeId> parts = values[g];
        for (size_t k = 0; k < combine.size(); ++k)
            values[g][k] = combine_lanes(run, n, combine, k, inits[g][k], parts);
    }
    return values;
}

}  // namespace

const std::vector<NodeId>& loop_results(MappingRun& run, NodeId loop, size_t copy) {
    const auto found = run.results.find({loop, copy});
    if (found != run.results.end()) return found->second;
    const std::vector<size_t> group = jammed_with(run, loop, copy);
    const Carried values = group_results(run, loop, group);
    if (run.varies[loop] || belongs_to_one_copy(run, loop))
        for (size_t g = 0; g < group.size(); ++g) run.results[{loop, group[g]}] = values[g];
    else
        for (size_t all = 0; all < run.copies.size(); ++all) run.results[{loop, all}] = values[0];
    return run.results.at({loop, copy});
}

}  // namespace firn
