// The ordered table of passes over kernel code, and its runner.
#include <algorithm>
#include <array>
#include <chrono>

#include "compiler/kernel/bindings.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/await_choices.h"
#include "compiler/mapping/combine_operations.h"
#include "compiler/mapping/complete_stores.h"
#include "compiler/mapping/find_extremes.h"
#include "compiler/mapping/fuse_loops.h"
#include "compiler/mapping/merge_carried.h"
#include "compiler/mapping/order_values.h"
#include "compiler/mapping/passes.h"
#include "compiler/mapping/select_branches.h"
#include "compiler/mapping/separate_ranges.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/store_in_blocks.h"
#include "compiler/mapping/turn_loops.h"
#include "compiler/mapping/turn_ranges.h"
#include "compiler/mapping/write_out_nests.h"
#include "compiler/mapping/write_out_own.h"
#include "compiler/program/device_class.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

using enum KernelStage;

/// A step that is taken has something left to do.
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
// Matrices load their own way.
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

constexpr auto kPipeline = std::to_array<KernelPass>({
    {"complete_stores", Lowered, Lowered,
     [](KernelCode& code, const KernelTarget& t) {
         code = complete_stores(std::move(code), t.profile, t.facts);
     },
     nullptr, &KernelSteps::select_branches},
    {"find_extremes", Lowered, Lowered,
     [](KernelCode& code, const KernelTarget& t) {
         code = find_extremes(std::move(code), t.profile, t.facts);
     },
     nullptr, &KernelSteps::fuse_loops},
    {"fuse_loops", Lowered, Lowered,
     [](KernelCode& code, const KernelTarget& t) {
         code = fuse_loops(std::move(code), t.profile, t.facts);
     },
     nullptr, &KernelSteps::fuse_loops},
    {"merge_carried", Lowered, Lowered,
     [](KernelCode& code, const KernelTarget& t) {
         code = merge_carried(std::move(code), t.facts);
     },
     nullptr, &KernelSteps::fuse_loops},
    {"await_choices", Lowered, Lowered,
     [](KernelCode& code, const KernelTarget& t) {
         code = await_choices(std::move(code), t.profile, t.facts);
     },
     nullptr, &KernelSteps::select_branches},
    {"select_branches", Lowered, Lowered,
     [](KernelCode& code, const KernelTarget& t) {
         code = select_branches(std::move(code), t.profile, t.facts);
     },
     nullptr, &KernelSteps::select_branches},
    {"separate_ranges", Lowered, Lowered,
     [](KernelCode& code, const KernelTarget& t) {
         code = separate_ranges(std::move(code), t.profile, t.facts);
     },
     nullptr, &KernelSteps::choose_mapping},
    {"turn_ranges", Lowered, Lowered,
     [](KernelCode& code, const KernelTarget& t) {
         code = turn_ranges(std::move(code), t.profile, t.facts);
     },
     nullptr, &KernelSteps::choose_mapping},
    {"turn_loops", Lowered, Lowered,
     [](KernelCode& code, const KernelTarget& t) {
         code = turn_loops(std::move(code), t.profile, t.facts);
     },
     nullptr, &KernelSteps::choose_mapping},
    {"write_out_nests", Lowered, Lowered,
     [](KernelCode& code, const KernelTarget& t) {
         code = write_out_nests(std::move(code), t.facts);
     },
     nullptr, &KernelSteps::choose_mapping},
    {"place", Lowered, Ready, [](KernelCode& code, const KernelTarget&) { place(code); }},

    {"map", Ready, Mapped,
     [](KernelCode& code, const KernelTarget& t) {
         code = map_ranges(code, *t.mapping, t.profile, t.facts);
     }},
    {"finish_steps", Mapped, Mapped, finish_steps, leaves_something},
    {"store_in_blocks", Mapped, Mapped,
     [](KernelCode& code, const KernelTarget& t) { store_in_blocks(code, t.profile, t.facts); },
     has_blocks},
    {"split_lonely_blocks", Mapped, Mapped,
     [](KernelCode& code, const KernelTarget& t) {
         split_lonely_blocks(code, least_of_block(t), t.profile, t.facts);
     },
     has_blocks},
    {"bind", Mapped, Mapped,
     [](KernelCode& code, const KernelTarget& t) { bind(code, t.profile, t.facts); }, is_not_tiled},
    {"place", Mapped, Placed, [](KernelCode& code, const KernelTarget&) { place(code); }},

    {"drop_unused_buffers", Placed, Placed,
     [](KernelCode& code, const KernelTarget&) { drop_unused_buffers(code); }},
    {"join_widths", Placed, Placed,
     [](KernelCode& code, const KernelTarget& t) { join_widths(code, t.profile); }, has_blocks},
    {"use_other_forms", Placed, Placed,
     [](KernelCode& code, const KernelTarget& t) { use_other_forms(code, t.profile, t.facts); }},
    {"order_values", Placed, Placed,
     [](KernelCode& code, const KernelTarget&) { order_values(code); }, is_ordered},
    {"combine_operations", Placed, Placed,
     [](KernelCode& code, const KernelTarget&) { combine_operations(code); }},
    {"write_out_own", Placed, Placed,
     [](KernelCode& code, const KernelTarget& t) { write_out_own(code, t.profile); }},
    {"count_back_edges", Placed, Placed,
     [](KernelCode& code, const KernelTarget&) { code.back_edges = count_back_edges(code); }},
});

}  // namespace

std::span<const KernelPass> kernel_passes() { return kPipeline; }

KernelCode run_kernel_passes(KernelCode code, KernelStage from, KernelStage to,
                             const KernelTarget& target, const KernelPassOptions& options) {
    KernelStage stage = from;
    for (const KernelPass& pass : kPipeline) {
        if (pass.takes != stage || pass.gives > to) continue;
        if (pass.applies && !pass.applies(target)) continue;
        if (pass.optional && !(options.steps.*pass.optional)) continue;
        KernelPassRun run{.name = pass.name, .nodes_before = code.nodes.size()};
        const auto start = std::chrono::steady_clock::now();
        pass.run(code, target);
        stage = pass.gives;
        if (options.seen) {
            const std::chrono::duration<double, std::milli> took =
                std::chrono::steady_clock::now() - start;
            run.milliseconds = took.count(), run.nodes_after = code.nodes.size();
            options.seen(run, code);
        }
        if (options.verify) verify(code, stage, pass.name);
    }
    ensure(stage == to, "no passes lead to this stage of a kernel");
    return code;
}

KernelCode map_kernel(const KernelCode& ready, const Mapping& mapping, const DeviceProfile& profile,
                      const SymbolFacts& facts) {
    return run_kernel_passes(ready, Ready, Placed, {profile, facts, &mapping});
}

}  // namespace firn
