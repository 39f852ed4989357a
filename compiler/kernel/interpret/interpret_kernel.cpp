// Runs Kernel code in lockstep: the grid, one group or chunk of invocations after the other.
#include "compiler/kernel/interpret/interpret_kernel.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/kernel/bindings.h"
#include "compiler/kernel/interpret/interpret_access.h"
#include "compiler/kernel/interpret/interpret_regions.h"
#include "compiler/kernel/interpret/interpret_run.h"
#include "compiler/kernel/interpret/interpret_values.h"

namespace firn {
namespace {

/// Lanes of a chunk where the grid is not mapped to workgroups.
constexpr int kGridLanes = 128;

/// Calls `set(range, words)` for every value of a range outside loops.
template <class F>
void fill_ranges(InterpretRun& run, F set) {
    for (auto [range, id] : run.range_values) set(run.code[range], run.values[id].words());
}

/// Runs the kernel for the first `lanes` lanes.
void run_root(InterpretRun& run, int lanes) {
    LaneMask mask;
    mask.on.assign(run.lanes, 0);
    std::fill_n(mask.on.begin(), lanes, uint8_t{1});
    mask.active = lanes;
    run.counts.invocations += lanes;
    run.back_edges.assign(run.lanes, 0);
    run.races.order();
    run_region(run, kRoot, mask);
    run.counts.back_edges = std::max(
        run.counts.back_edges, *std::max_element(run.back_edges.begin(), run.back_edges.end()));
}

void run_grid(InterpretRun& run) {
    ByRange<int64_t> strides(run.code.ranges.size());
    int64_t total = 1;
    for (size_t k = run.code.ranges.size(); k-- > 0;) {
        const RangeId id(k);
        const Range& range = run.code[id];
        if (range.kind != RangeKind::Grid) continue;
        strides[id] = total;
        total *= range.extent.evaluate(run.env);
    }
    for (int64_t begin = 0; begin < total; begin += kGridLanes) {
        for (auto [index, id] : run.range_values) {
            const Range& range = run.code[index];
            if (range.kind == RangeKind::Serial) continue;
            if (range.kind != RangeKind::Grid)
                fail(run, "range " + range.name + " is mapped beside a grid that is not");
            const int64_t extent = range.extent.evaluate(run.env), stride = strides[index];
            int32_t* words = run.values[id].words();
            for (int lane = 0; lane < run.lanes; ++lane)
                words[lane] = static_cast<int32_t>((begin + lane) / stride % extent);
        }
        run_root(run, static_cast<int>(std::min<int64_t>(kGridLanes, total - begin)));
    }
}

/// The ranges that are the same in every group.
void fill_local_ranges(InterpretRun& run, int lanes) {
    const std::array<uint32_t, 3>& size = run.code.group_size;
    const int extents[3] = {static_cast<int>(size[0]), static_cast<int>(size[1]),
                            static_cast<int>(size[2])};
    const int strides[3] = {1, extents[0], extents[0] * extents[1]};
    fill_ranges(run, [&](const Range& range, int32_t* words) {
        for (int lane = 0; lane < lanes; ++lane) {
            if (range.kind == RangeKind::Invocation)
                words[lane] = lane / strides[range.dim] % extents[range.dim];
            if (range.kind == RangeKind::Subgroup)
                words[lane] = range.dim ? lane / run.subgroup : lane % run.subgroup;
        }
    });
}

void run_groups(InterpretRun& run, const std::array<int64_t, 3>& groups, int lanes) {
    fill_local_ranges(run, lanes);
    std::array<int64_t, 3> group{};
    for (group[2] = 0; group[2] < groups[2]; ++group[2])
        for (group[1] = 0; group[1] < groups[1]; ++group[1])
            for (group[0] = 0; group[0] < groups[0]; ++group[0]) {
                fill_ranges(run, [&](const Range& range, int32_t* words) {
                    if (range.kind == RangeKind::Group)
                        std::fill_n(words, run.lanes, static_cast<int32_t>(group[range.dim]));
                });
                run_root(run, lanes);
            }
}

}  // namespace

void fail(const InterpretRun& run, const std::string& what) {
    throw InternalError("internal error: kernel " + run.code.name + ": " + what);
}

KernelCounts interpret_kernel(const KernelCode& code,
                              const std::vector<std::span<std::byte>>& buffers,
                              const std::vector<Scalar>& params, const SizeEnv& env,
                              uint32_t subgroup_size,
                              const std::optional<std::array<int64_t, 3>>& groups,
                              FunctionValues functions) {
    std::array<int64_t, 3> launched{};
    for (size_t k = 0; k < 3; ++k)
        launched[k] = groups ? (*groups)[k] : code.groups[k].evaluate(env);
    ensure(buffers.size() == bound_buffers(code) && params.size() == code.params.size(),
           "a kernel is run with another number of buffers or parameters than it has");
    ensure(subgroup_size > 0, "a kernel is run with subgroups of no lanes");
    InterpretRun run{code, buffers, params, env, static_cast<int>(subgroup_size), functions};
    const bool grid = std::any_of(code.ranges.begin(), code.ranges.end(),
                                  [](const Range& range) { return range.kind == RangeKind::Grid; });
    const int64_t lanes =
        grid ? kGridLanes : int64_t{code.group_size[0]} * code.group_size[1] * code.group_size[2];
    run.lanes = static_cast<int>((lanes + kLaneBlock - 1) / kLaneBlock * kLaneBlock);
    place_values(run);
    make_own_memory(run);
    if (grid)
        run_grid(run);
    else
        run_groups(run, launched, static_cast<int>(lanes));
    return run.counts;
}

}  // namespace firn
