// Counts what a kernel does, as sizes.
#include "compiler/kernel/count.h"

#include <set>

namespace firn {
namespace {

bool counts(const KernelCode& code, const KernelNode& n) {
    if (n.op == KernelOp::RowReduce) return true;
    if (!is_elementwise(n.op) || n.op == KernelOp::Cast || n.op == KernelOp::Bitcast) return false;
    if (n.dtype != i32 && n.dtype != boolean) return true;
    for (int arg : n.args)
        if (code.nodes[arg].dtype.is_float()) return true;
    return false;
}

Size region_operations(const KernelCode& code, int region_id) {
    const KernelRegion& region = code.regions[region_id];
    int64_t plain = 0;
    Size total(0);
    auto visit = [&](int id) {
        const KernelNode& n = code.nodes[id];
        plain += counts(code, n);
        if (n.op != KernelOp::For && n.op != KernelOp::Branch) return;
        const Size inside = region_operations(code, n.region);
        const int range = code.regions[n.region].range;
        if (range < 0) {
            total += inside;
            if (n.else_region >= 0) total += region_operations(code, n.else_region);
            return;
        }
        const Range& r = code.ranges[range];
        const bool known =
            r.extent_node >= 0 && (code.nodes[r.extent_node].op == KernelOp::Constant ||
                                   code.nodes[r.extent_node].op == KernelOp::Param);
        total += inside * (known ? r.extent : Size(1));
    };
    for (int id : region.order) visit(id);
    for (int id : region.effects) visit(id);
    return total + Size(plain);
}

}  // namespace

Work count_work(const KernelCode& code) {
    Size grid(1);
    for (const Range& r : code.ranges)
        if (r.kind != RangeKind::Serial) grid = grid * r.extent;
    Work work;
    work.operations = grid * region_operations(code, 0);
    std::set<int> read, written;
    for (const KernelBuffer& b : code.buffers) {
        if (b.space != MemorySpace::Bound) continue;
        const Size bytes = b.elements * Size(b.dtype.bytes());
        if (b.written && written.insert(b.buffer).second) work.bytes_written += bytes;
        if (!b.written && read.insert(b.buffer).second) work.bytes_read += bytes;
    }
    return work;
}

Work largest(const Work& work) {
    return {largest(work.operations), largest(work.bytes_read), largest(work.bytes_written)};
}

}  // namespace firn
