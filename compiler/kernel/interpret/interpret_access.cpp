// Nodes that load, store and combine in memory, for the host interpreter.
#include "compiler/kernel/interpret/interpret_access.h"

#include <algorithm>

#include "compiler/ir/evaluate.h"
#include "compiler/kernel/interpret/interpret_memory.h"

namespace firn {
namespace {

const KernelBuffer& buffer_of(const InterpretRun& run, const KernelNode& n) {
    return run.code.buffers[n.as<AccessAttr>().buffer];
}

int64_t stored_bytes(const InterpretRun& run, const KernelNode& n) {
    return buffer_of(run, n).dtype.bytes();
}

/// The indices of an access by the lanes that run; of an array that each lane has of its own, among
/// those of all lanes. They hold until the next call.
const int32_t* indices(InterpretRun& run, const KernelNode& n, const LaneMask& mask) {
    const int32_t* index = run.values[n.args[0]].words();
    if (buffer_of(run, n).space != MemorySpace::Private) return index;
    const auto elements = static_cast<int32_t>(buffer_of(run, n).elements.evaluate(run.env));
    run.own_index.assign(index, index + run.lanes);
    for (int lane = 0; lane < run.lanes; ++lane) {
        if (mask.on[lane] && (index[lane] < 0 || index[lane] >= elements))
            fail(run, "a local array is left");
        run.own_index[lane] += lane * elements;
    }
    return run.own_index.data();
}

/// An access by the lanes that run, checked and in order with those of others.
LaneAccess access(InterpretRun& run, const KernelNode& n, const LaneMask& mask) {
    check_order(run, n, run.values[n.args[0]].words(), mask);
    return {run.code, n, memory_of(run, n.as<AccessAttr>().buffer), indices(run, n, mask), mask};
}

}  // namespace

void make_own_memory(InterpretRun& run) {
    for (size_t k = run.bound.size(); k < run.code.buffers.size(); ++k) {
        const KernelBuffer& b = run.code.buffers[k];
        const int64_t copies = b.space == MemorySpace::Private ? run.lanes : 1;
        run.own_memory.emplace_back(
            static_cast<size_t>(b.elements.evaluate(run.env) * copies * b.dtype.bytes()));
    }
}

std::span<std::byte> memory_of(InterpretRun& run, int buffer) {
    const auto k = static_cast<size_t>(buffer);
    if (k < run.bound.size()) return run.bound[k];
    return run.own_memory[k - run.bound.size()];
}

void count_loads(InterpretRun& run, const KernelNode& n, int lanes) {
    run.counts.loads += lanes;
    const int64_t bytes = lanes * width(n) * stored_bytes(run, n);
    run.counts.bytes_read += bytes;
    if (buffer_of(run, n).space == MemorySpace::Bound) run.counts.bound_bytes_read += bytes;
}

void count_stores(InterpretRun& run, const KernelNode& n, int lanes) {
    run.counts.stores += lanes;
    run.counts.bytes_written += lanes * width(n) * stored_bytes(run, n);
}

void check_order(InterpretRun& run, const KernelNode& n, const int32_t* index,
                 const LaneMask& mask) {
    const KernelBuffer& b = buffer_of(run, n);
    if (b.space != MemorySpace::Shared) return;
    const int64_t elements = b.elements.evaluate(run.env);
    if (n.op != KernelOp::Load) return run.races.access(n, elements, index, mask);
    const NodeId id(&n - run.code.nodes.data());
    run.races.access(n, elements, index, lanes_that_use(run, id, mask));
}

void run_load(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    count_loads(run, n, mask.active);
    load_lanes(access(run, n, mask), run.values[id]);
}

void load_early(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    load_lanes(
        {run.code, n, memory_of(run, n.as<AccessAttr>().buffer), indices(run, n, mask), mask},
        run.values[id]);
}

void run_store(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    count_stores(run, n, mask.active);
    std::vector<Lanes> values;
    for (size_t k = 1; k < n.args.size(); ++k) values.push_back(run.values[n.args[k]]);
    store_lanes(access(run, n, mask), values);
}

void run_atomic(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    count_stores(run, n, mask.active);
    run.counts.bytes_read += mask.active * stored_bytes(run, n);
    combine_lanes(access(run, n, mask), run.values[n.args[1]], &run.values[id]);
}

void run_array(InterpretRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    const KernelBuffer& b = buffer_of(run, n);
    const auto& size = run.code.group_size;
    if (b.space == MemorySpace::Shared)
        run.races.clear(n, b.elements.evaluate(run.env),
                        static_cast<int>(size[0] * size[1] * size[2]));
    const std::span<std::byte> memory = memory_of(run, n.as<AccessAttr>().buffer);
    std::fill(memory.begin(), memory.end(), std::byte{0});
    if (n.args.empty()) return;
    const Scalar begin = run.code[n.args[0]].as<Scalar>().to(n.dtype);
    for (size_t at = 0; at < memory.size(); at += static_cast<size_t>(n.dtype.bytes()))
        store_scalar(begin, memory.data() + at);
}

}  // namespace firn
