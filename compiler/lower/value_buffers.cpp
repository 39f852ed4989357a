// The buffers that the values of a program live in.
#include "compiler/lower/value_buffers.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/affine_index.h"
#include "compiler/ir/host_size.h"

namespace firn {
int add_buffer(LowerRun& run, const std::string& name, DType dtype, const Shape& shape) {
    std::vector<BufferInfo>& all = run.program->buffers;
    BufferInfo info;
    info.name = name;
    info.dtype = dtype;
    info.shape = largest(shape);
    info.elements = element_count(info.shape);
    all.push_back(std::move(info));
    return static_cast<int>(all.size()) - 1;
}

int value_buffer(LowerRun& run, const Node& node) {
    auto [it, added] = run.context.buffers.emplace(&node, -1);
    if (added)
        it->second = add_buffer(run, std::string(info(node.op).name) + " " + first_line(node),
                                node.dtype, node.shape);
    return it->second;
}

bool made_in(LowerRun& run, const Node& value, const Node* loop) {
    const bool made =
        run.schedule.materialised.contains(&value) ||
        (value.op == Op::Result && run.schedule.host_loops.contains(value.inputs[0].get()));
    return made && home_loop(regions_of(run), value) == loop;
}

namespace {

/// A kernel or loop of the item reads the value from memory.
bool reads(const LowerRun& run, const ScheduleItem& item, const Node& value) {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> open;
    const auto need = [&](const Ref& node) {
        if (seen.insert(node.get()).second) open.push_back(node.get());
    };
    if (item.loop) {
        for (const Ref& input : item.loop->inputs) need(input);
        for (const Ref& result : item.loop->as<LoopAttr>().body->results) need(result);
        if (std::any_of(item.body.begin(), item.body.end(),
                        [&](const ScheduleItem& inner) { return reads(run, inner, value); }))
            return true;
    }
    for (const Ref& output : item.outputs)
        for (const Ref& input : output->inputs) need(input);
    while (!open.empty()) {
        const Node& node = *open.back();
        open.pop_back();
        if (&node == &value) return true;
        if (run.schedule.materialised.contains(&node)) continue;
        for (const Ref& input : node.inputs) need(input);
        for (const Ref& result : region_results(node)) need(result);
    }
    return false;
}

/// Steps that come later, or the results of the region, need the value itself.
bool is_needed_later(const LowerRun& run, const Node& value) {
    const auto is_value = [&](const Ref& result) { return result.get() == &value; };
    return std::any_of(run.results_of_region.begin(), run.results_of_region.end(), is_value) ||
           std::any_of(run.behind.begin(), run.behind.end(),
                       [&](const ScheduleItem& item) { return reads(run, item, value); });
}

bool is_apart(const Node& version) {
    return version.op == Op::Scatter && version.as<ScatterAttr>().apart;
}

}  // namespace

bool may_write_over(LowerRun& run, const Node& old, const Node& user) {
    // Others have read the target of a store that waits for the host before it.
    if (run.uses[&old] != 1 && (!is_apart(user) || is_needed_later(run, old))) return false;
    const RegionFacts& regions = regions_of(run);
    const Node* loop = home_loop(regions, user);
    return old.op == Op::RegionArg ? regions.arg_owner.at(&old) == loop : made_in(run, old, loop);
}

namespace {

/// The Gather reads another slot of its first axis than the store writes.
bool reads_apart(const LowerRun& run, const Node& read, const Node& store) {
    const Bounds mode = read.as<GatherAttr>().modes[0];
    if (mode != Bounds::Unchecked && mode != Bounds::Constant) return false;
    const auto at = host_size(without_expand(*read.inputs[1]), run.context.host_values),
               to = host_size(without_expand(*store.inputs[2]), run.context.host_values);
    if (!at || !to) return false;
    const Size distance = *to - *at;
    return distance.is_constant() && !distance.is(0);
}

/// Returns whether all other reads of the value that the version starts from are of elements that
/// the version does not store to.
bool others_read_apart(LowerRun& run, const Node& old, const Node& version) {
    if (old.op != Op::RegionArg || version.op != Op::Scatter || old.shape.empty()) return false;
    const RegionFacts& regions = regions_of(run);
    if (regions.arg_owner.at(&old) != home_loop(regions, version)) return false;
    int apart = 0;
    for (const Ref& node : regions.order)
        apart += node->op == Op::Gather && node->inputs[0].get() == &old &&
                 reads_apart(run, *node, version);
    return apart > 0 && apart + 1 == run.uses[&old];
}

}  // namespace

int version_buffer(LowerRun& run, const Node& version, const Node& old, int from,
                   std::vector<ListedStep>& out) {
    if (may_write_over(run, old, version) || others_read_apart(run, old, version))
        return run.context.buffers[&version] = from;
    const int to = value_buffer(run, version);
    out.emplace_back().step = CopyStep{from, to};
    return to;
}

}  // namespace firn
