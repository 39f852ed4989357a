// Finds loops whose steps are so small that one group may run them all.
#include "compiler/schedule/small_loops.h"

#include "compiler/schedule/trip_counts.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// True unless the loop's end depends on data or its iterations have sizes of their own: such loops
/// are run step by step.
bool runs_to_its_end(const Node& loop) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    return attr.active < 0 && attr.must_end == MustEnd::No && attr.sizes.empty();
}

/// True if a separate kernel of the node, if it has one, would be small.
bool is_small(const ScheduleFacts& facts, const Node& node) {
    if (node.op == Op::HostCall) return false;
    const bool repeats = node.op == Op::Reduce || loop_of_result(facts.regions, node);
    if (!repeats && !facts.required.contains(&node)) return true;
    if (is_of_invocations(facts.regions, node)) return false;
    const Shape& grid = grid_shape(facts.regions, node);
    const double seconds = expected_elements(grid, facts.symbols) * facts.seconds.at(&node);
    return element_count(grid).upper_bound(facts.symbols.largest) <= costs::kMostInOneGroup &&
           seconds * (groups_at_once(facts.profile) - 1) <= facts.profile.seconds_per_launch;
}

}  // namespace

NodeSet small_loops(const ScheduleFacts& facts, const NodeSet& launched) {
    NodeSet out, large;
    for (const Node* loop : facts.regions.host_loops)
        (runs_to_its_end(*loop) && !launched.contains(loop) ? out : large).insert(loop);
    for (const Ref& ref : facts.regions.order)
        if (!is_small(facts, *ref))
            if (const Node* home = home_loop(facts.regions, *ref)) large.insert(home);
    // An outer loop comes after the loops inside it.
    for (const Ref& ref : facts.regions.order)
        if (const Node* home = home_loop(facts.regions, *ref); home && large.contains(ref.get()))
            large.insert(home);
    std::erase_if(out, [&](const Node* loop) { return large.contains(loop); });
    return out;
}

bool in_small_loop(const ScheduleFacts& facts, const Node& node) {
    const Node* home = facts.small_loops.empty() ? nullptr : home_loop(facts.regions, node);
    return home && facts.small_loops.contains(home);
}

}  // namespace firn
