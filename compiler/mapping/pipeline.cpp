// The ordered table of passes over kernel code, and its runner.
#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/kernel/bindings.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/before/complete_stores.h"
#include "compiler/mapping/before/defer_conditional_work.h"
#include "compiler/mapping/before/fuse_loops.h"
#include "compiler/mapping/before/interchange_loops.h"
#include "compiler/mapping/before/merge_carried.h"
#include "compiler/mapping/before/select_branches.h"
#include "compiler/mapping/before/separate_ranges.h"
#include "compiler/mapping/before/swap_grid_axes.h"
#include "compiler/mapping/before/unroll_nests.h"
#include "compiler/mapping/behind/combine_operations.h"
#include "compiler/mapping/behind/order_values.h"
#include "compiler/mapping/behind/store_in_blocks.h"
#include "compiler/mapping/behind/write_out_own.h"
#include "compiler/mapping/kernel_passes.h"
#include "compiler/mapping/steps.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/target.h"

namespace firn {
namespace {

using enum KernelStage;

/// Returns whether a step of the mapping has work left to do.
bool finishes(const MappingStep& step, const KernelTarget& t) {
    return step.rules.finish && step.is_taken(*t.mapping);
}
bool leaves_something(const KernelTarget& t) {
    return t.mapping && std::any_of(mapping_steps().begin(), mapping_steps().end(),
                                    [&](const MappingStep& step) { return finishes(step, t); });
}
void finish_steps(KernelCode& code, const KernelTarget& t) {
    for (const MappingStep& step : mapping_steps())
        if (finishes(step, t)) step.rules.finish(code, t);
}
// Matrices load in another way.
bool has_blocks(const KernelTarget& t) { return !t.mapping || !t.mapping->matrix; }
bool is_tiled(const KernelTarget& t) { return t.mapping && !t.mapping->matrix; }
bool is_not_tiled(const KernelTarget& t) { return !is_tiled(t); }
bool is_ordered(const KernelTarget& t) { return is_tiled(t) && rules_of(t.profile).keeps_order; }

/// Elements that are worth a block of four. Two of a tile: on lavapipe a convolution of 3x3 in
/// tiles of 4x4 takes 4.8 ms with them and 5.8 without. All four where nothing is shared between
/// copies: fluid takes 1.05 times as long with less.
size_t least_of_block(const KernelTarget& t) {
    return !t.mapping || t.mapping->has_neighbours() ? 2 : 4;
}

// A function of the table for each form that passes have.
template <KernelCode (*pass)(KernelCode, const DeviceProfile&, const SymbolFacts&)>
void by_profile(KernelCode& code, const KernelTarget& t) {
    code = pass(std::move(code), t.profile, t.facts);
}
template <KernelCode (*pass)(KernelCode, const DeviceProfile&, const SymbolFacts&, ChooseMapping)>
void by_choice(KernelCode& code, const KernelTarget& t) {
    code = pass(std::move(code), t.profile, t.facts, choose_mapping);
}
template <KernelCode (*pass)(KernelCode, const SymbolFacts&)>
void by_facts(KernelCode& code, const KernelTarget& t) {
    code = pass(std::move(code), t.facts);
}
template <void (*pass)(KernelCode&, const DeviceProfile&, const SymbolFacts&)>
void in_place_by_profile(KernelCode& code, const KernelTarget& t) {
    pass(code, t.profile, t.facts);
}
template <void (*pass)(KernelCode&, const DeviceProfile&)>
void in_place_by_limits(KernelCode& code, const KernelTarget& t) {
    pass(code, t.profile);
}
template <void (*pass)(KernelCode&)>
void in_place(KernelCode& code, const KernelTarget&) {
    pass(code);
}

bool is_chosen(const KernelTarget& t) { return t.chosen != nullptr; }
void choose(KernelCode& code, const KernelTarget& t) {
    *t.chosen = choose_mapping(code, t.profile, t.facts);
}
void map(KernelCode& code, const KernelTarget& t) {
    code = map_ranges(code, *t.mapping, t.profile, t.facts);
}
void split_blocks(KernelCode& code, const KernelTarget& t) {
    scalarise_underused_vectors(code, least_of_block(t), t.profile, t.facts);
}
void count_edges(KernelCode& code, const KernelTarget& t) {
    code.back_edges = target_of(t.profile).count_back_edges(code, t.profile);
}

constexpr PassNeeds kFit = kNeedsFacts | kNeedsProfile, kMapped = kFit | kNeedsMapping;
constexpr const char* kPlaces = "kernels are written in the order of their values";
constexpr const char* kBinds = "a kernel binds no more tensors than the device allows";

// clang-format off
constexpr auto kPipeline = std::to_array<KernelPass>({
    {{"complete_stores", "mapping/before/complete_stores", kFit},
     Lowered, Lowered, by_profile<complete_stores>},
    {{"fuse_loops", "mapping/before/fuse_loops", kFit}, Lowered, Lowered, by_profile<fuse_loops>},
    {{"merge_carried", "mapping/before/merge_carried", kNeedsFacts},
     Lowered, Lowered, by_facts<merge_carried>},
    {{"defer_conditional_work", "mapping/before/defer_conditional_work", kFit}, Lowered, Lowered, by_choice<defer_conditional_work>},
    {{"select_branches", "mapping/before/select_branches", kFit},
     Lowered, Lowered, by_choice<select_branches>},
    {{"separate_ranges", "mapping/before/separate_ranges", kFit},
     Lowered, Lowered, by_choice<separate_ranges>},
    {{"swap_grid_axes", "mapping/before/swap_grid_axes", kFit}, Lowered, Lowered, by_choice<swap_grid_axes>},
    {{"interchange_loops", "mapping/before/interchange_loops", kFit}, Lowered, Lowered, by_choice<interchange_loops>},
    {{"unroll_nests", "mapping/before/unroll_nests", kNeedsFacts},
     Lowered, Lowered, by_facts<unroll_nests>},
    {{"place", "kernel/place", 0, kPlaces}, Lowered, Ready, in_place<place>},

    {{"choose_mapping", "mapping/choice/choose_mapping", kFit}, Ready, Ready, choose, is_chosen},
    {{"map", "mapping/walk/map", kMapped, "kernels run in groups of invocations"}, Ready, Mapped, map},
    {{"finish_steps", "mapping/steps", kMapped, "steps of the mapping have begun it"},
     Mapped, Mapped, finish_steps, leaves_something},
    {{"store_in_blocks", "mapping/behind/store_in_blocks", kMapped},
     Mapped, Mapped, in_place_by_profile<store_in_blocks>, has_blocks},
    {{"scalarise_underused_vectors", "kernel/bindings", kMapped}, Mapped, Mapped, split_blocks, has_blocks},
    {{"bind", "kernel/bindings", kMapped}, Mapped, Mapped, in_place_by_profile<bind>, is_not_tiled},
    {{"place", "kernel/place", 0, kPlaces}, Mapped, Placed, in_place<place>},

    {{"drop_unused_buffers", "kernel/bindings", 0, kBinds},
     Placed, Placed, in_place<drop_unused_buffers>},
    {{"join_widths", "kernel/bindings", kNeedsProfile, kBinds},
     Placed, Placed, in_place_by_limits<join_widths>, has_blocks},
    {{"use_other_forms", "kernel/bindings", kFit, kBinds},
     Placed, Placed, in_place_by_profile<use_other_forms>},
    {{"order_values", "mapping/behind/order_values"}, Placed, Placed, in_place<order_values>, is_ordered},
    {{"combine_operations", "mapping/behind/combine_operations"},
     Placed, Placed, in_place<combine_operations>},
    {{"write_out_own", "mapping/behind/write_out_own", kNeedsProfile},
     Placed, Placed, in_place_by_limits<write_out_own>},
    {{"count_back_edges", "kernel/back_edges", 0,
      "a driver may stop an invocation after some thousand iterations"},
     Placed, Placed, count_edges},
});
// clang-format on

}  // namespace

std::span<const KernelPass> kernel_passes() { return kPipeline; }

KernelCode run_kernel_passes(KernelCode code, KernelStage from, KernelStage to,
                             const KernelTarget& target, const KernelPassOptions& options) {
    KernelStage stage = from;
    for (size_t k = 0; k < kPipeline.size(); ++k) {
        const KernelPass& pass = kPipeline[k];
        if (pass.takes != stage || pass.gives > to) continue;
        if (pass.applies && !pass.applies(target)) continue;
        if (is_skipped(options.skipped, kPipeline, k)) continue;
        KernelPassRun run{.name = pass.info.name, .nodes_before = code.nodes.size()};
        const auto start = std::chrono::steady_clock::now();
        pass.run(code, target);
        stage = pass.gives;
        if (options.seen) {
            const std::chrono::duration<double, std::milli> took =
                std::chrono::steady_clock::now() - start;
            run.milliseconds = took.count(), run.nodes_after = code.nodes.size();
            options.seen(run, code);
        }
        if (options.verify) verify(code, stage, pass.info.name);
    }
    ensure(stage == to, "no passes lead to this stage of a kernel");
    return code;
}

KernelCode map_kernel(const KernelCode& ready, const Mapping& mapping, const DeviceProfile& profile,
                      const SymbolFacts& facts, const KernelPassOptions& options) {
    return run_kernel_passes(ready, Ready, Placed, {profile, facts, &mapping}, options);
}

}  // namespace firn
