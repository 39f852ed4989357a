// Values of a loop that a later loop computes again, kept in memory between the two.
#include "compiler/target/native/kept.h"

#include <algorithm>
#include <utility>

#include "compiler/kernel/functions/functions.h"
#include "compiler/target/native/checks.h"

namespace firn::native {
namespace {

/// The most bytes of kept values: half of a small first cache.
constexpr int64_t kMostKept = 16384;

struct CountedLoop {
    RegionId body;
    int64_t trips = 0;
    NodeId index;
};

/// The loops of a region that all lanes run a constant number of times, in their order.
std::vector<CountedLoop> constant_loops(const IrRun& run, const KernelRegion& region) {
    std::vector<CountedLoop> loops;
    const auto add = [&](NodeId id) {
        if (run.code[id].op != KernelOp::For) return;
        const RegionId body = run.code[id].as<BodyAttr>().region;
        const RangeId range = run.code[body].range;
        if (!range || run.code[body].alive || run.diverges[body]) return;
        const auto* trips = run.code[run.code[range].extent_node].get_if<Scalar>();
        if (!trips) return;
        loops.push_back({body, trips->i, {}});
        for (NodeId other : run.code.nodes.ids())
            if (const auto* named = run.code[other].get_if<RangeId>(); named && *named == range)
                loops.back().index = other;
    };
    for (NodeId id : region.order) add(id);
    for (NodeId id : region.effects) add(id);
    return loops;
}

/// A function of the module, which takes longer than two accesses of the first cache.
bool is_costly(const IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    return n.dtype.is_float() && run.varying[id] && is_elementwise(n.op) &&
           find_kernel_function(n.op, n.dtype.is_half() ? f32 : n.dtype);
}

/// Nothing in the kernel stores to the memory of a load.
bool is_constant_memory(const IrRun& run, const AccessAttr& access) {
    const KernelBuffer& read = run.code.buffers[access.buffer];
    return read.space == MemorySpace::Bound &&
           std::none_of(
               run.code.buffers.begin(), run.code.buffers.end(),
               [&](const KernelBuffer& b) { return b.written && b.buffer == read.buffer; });
}

/// The most nodes that are compared for one value, since values with many uses are met again.
constexpr int kMostCompared = 200;

/// Compares the value `a` of an iteration of one loop with the value `b` of the same iteration of
/// another.
struct Comparison {
    const IrRun& run;
    const CountedLoop &first, &second;
    int left = kMostCompared;

    bool alike(NodeId a, NodeId b) {
        if (--left < 0) return false;
        if (a == first.index || b == second.index) return a == first.index && b == second.index;
        const KernelNode &x = run.code[a], &y = run.code[b];
        if (a == b) return x.op != KernelOp::RegionArg && !x.pinned;
        if (x.op != y.op || x.dtype != y.dtype || x.pinned || y.pinned || !(x.attr == y.attr) ||
            x.args.size() != y.args.size() || x.args.empty())
            return false;
        const bool repeats = x.op == KernelOp::Load
                                 ? is_constant_memory(run, x.as<AccessAttr>())
                                 : is_elementwise(x.op) || x.op == KernelOp::Lane;
        if (!repeats) return false;
        for (size_t k = 0; k < x.args.size(); ++k)
            if (!alike(x.args[k], y.args[k])) return false;
        return true;
    }
};

int64_t bytes_of_all_lanes(const IrRun& run, NodeId id) {
    return run.lanes * std::max(4, run.code[id].dtype.bytes());
}

/// Has the loop take costly values from an earlier one.
void take_from(IrRun& run, const CountedLoop& first, const CountedLoop& second) {
    for (NodeId wanted : run.code[second.body].order) {
        if (run.takes[wanted].bytes || !is_costly(run, wanted)) continue;
        for (NodeId kept : run.code[first.body].order) {
            if (run.code[kept].op != run.code[wanted].op ||
                !Comparison{run, first, second}.alike(kept, wanted))
                continue;
            KeptValue value = run.takes[kept].bytes ? run.takes[kept] : run.keeps[kept];
            if (!value.bytes) {
                value = {first.index, run.kept_bytes, bytes_of_all_lanes(run, kept)};
                if (value.offset + first.trips * value.bytes > kMostKept) break;
                run.kept_bytes += first.trips * value.bytes;
                run.keeps[kept] = value;
            }
            run.takes[wanted] = {second.index, value.offset, value.bytes};
            break;
        }
    }
}

/// The place of an iteration's value.
std::string place_of(IrRun& run, const KeptValue& value) {
    const std::string index = emit(run, "sext i32 " + value_of(run, value.index).text + " to i64"),
                      bytes = emit(run, "mul i64 " + index + ", " + std::to_string(value.bytes)),
                      at = emit(run, "add i64 " + bytes + ", " + std::to_string(value.offset));
    check_kept(run, at, value.bytes);
    return emit(run, "getelementptr i8, ptr %kept, i64 " + at);
}

}  // namespace

void find_kept(IrRun& run) {
    run.keeps.assign(run.code.nodes.size(), KeptValue());
    run.takes.assign(run.code.nodes.size(), KeptValue());
    // Two loops of a group that waits may stand in different parts, with other lanes between them.
    if (run.lanes == 1 || run.turns > 1) return;
    for (const KernelRegion& region : run.code.regions) {
        const std::vector<CountedLoop> loops = constant_loops(run, region);
        for (size_t later = 1; later < loops.size(); ++later)
            for (size_t earlier = 0; earlier < later; ++earlier)
                if (loops[earlier].trips == loops[later].trips && loops[earlier].index &&
                    loops[later].index)
                    take_from(run, loops[earlier], loops[later]);
    }
    if (run.kept_bytes)
        run.allocas += "  %kept = alloca [" + std::to_string(run.kept_bytes) + " x i8], align 64\n";
}

void keep_value(IrRun& run, NodeId id) {
    const KeptValue& value = run.keeps[id];
    if (!value.bytes) return;
    const DType dtype = run.code[id].dtype;
    const std::string vector = as_vector(run, value_of(run, id), dtype);
    emit_effect(
        run, "store " + type_of(run, dtype, true) + " " + vector + ", ptr " + place_of(run, value));
}

bool take_value(IrRun& run, NodeId id) {
    const KeptValue& value = run.takes[id];
    if (!value.bytes) return false;
    const std::string place = place_of(run, value);
    run.values[id] = {
        {emit(run, "load " + type_of(run, run.code[id].dtype, true) + ", ptr " + place), true}};
    return true;
}

}  // namespace firn::native
