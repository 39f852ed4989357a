// Nodes whose values are matrices that a subgroup holds together, for the host interpreter.
#include "compiler/kernel/interpret/interpret_fragments.h"

#include "compiler/kernel/interpret/interpret_access.h"
#include "compiler/kernel/interpret/interpret_memory.h"
#include "compiler/kernel/interpret/interpret_subgroup.h"

namespace firn {
namespace {

/// Returns the indices of the elements of part `part`, by lane.
std::vector<int32_t> part_indices(const InterpretRun& run, const KernelNode& n, int part,
                                  const LaneMask& mask) {
    const int32_t *first = run.values[n.args[0]].words(), *stride = run.values[n.args[1]].words();
    std::vector<int32_t> index(run.lanes, -1);
    for_subgroups(run, mask, [&](int begin, int end) {
        for (int lane = begin; lane < end; ++lane)
            if (first[lane] != first[begin] || stride[lane] != stride[begin])
                fail(run, "the lanes of a subgroup ask for different matrices");
        matrix_indices(n, run.subgroup, part, first[begin], stride[begin], index.data() + begin);
    });
    return index;
}

/// Returns the lanes of `mask` that have an element in part `part`.
LaneMask part_mask(const InterpretRun& run, const KernelNode& n, int part, const LaneMask& mask) {
    LaneMask some = mask;
    for (int lane = 0; lane < run.lanes; ++lane)
        if (some.on[lane] &&
            part * run.subgroup + lane_of(lane, run.subgroup) >= n.matrix.rows * n.matrix.columns)
            some.on[lane] = 0, --some.active;
    return some;
}

}  // namespace

LaneMatrix matrix_of(const InterpretRun& run, NodeId id) {
    return {run.code[id].matrix, run.values[id], run.lanes, run.subgroup};
}

void run_matrix(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    const auto matrix = [&](NodeId node) { return matrix_of(run, node); };
    for_subgroups(run, mask, [&](int begin, int) {
        if (n.op == KernelOp::MatrixCast)
            return convert_matrix(matrix(id), matrix(n.args[0]), begin);
        if (n.op == KernelOp::MatrixMulAdd) {
            ++run.counts.matrix_products;
            return multiply_add(matrix(id), matrix(n.args[0]), matrix(n.args[1]), matrix(n.args[2]),
                                begin);
        }
        const Scalar value = get_lane(run.values[n.args[0]], begin);
        for (int e = 0; e < n.matrix.rows * n.matrix.columns; ++e) matrix(id).set(e, begin, value);
    });
}

void move_matrix(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    const bool stores = n.op == KernelOp::MatrixStore;
    // A MatrixStore has the shape of the matrix that it stores.
    const LaneMatrix whole = {n.matrix, run.values[stores ? n.args[2] : id], run.lanes,
                              run.subgroup};
    for (int k = 0; k < whole.count(); ++k) {
        const std::vector<int32_t> index = part_indices(run, n, k, mask);
        const LaneMask some = part_mask(run, n, k, mask);
        check_order(run, n, index.data(), some);
        const LaneAccess access{run.code, n, memory_of(run, n.as<AccessAttr>().buffer),
                                index.data(), some};
        const Lanes part = whole.part(k);
        if (stores) {
            count_stores(run, n, some.active);
            store_lanes(access, {&part, 1});
        } else {
            count_loads(run, n, some.active);
            load_lanes(access, part);
        }
    }
}

}  // namespace firn
