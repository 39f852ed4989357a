// Counts a kernel's work, as sizes.
#include "compiler/kernel/count.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace firn {
namespace {

bool is_arithmetic(const KernelCode& code, const KernelNode& n) {
    if (n.op == KernelOp::RowReduce) return true;
    if (!is_elementwise(n.op) || n.op == KernelOp::Cast || n.op == KernelOp::Bitcast) return false;
    if (n.dtype != i32 && n.dtype != boolean) return true;
    for (NodeId arg : n.args)
        if (code[arg].dtype.is_float()) return true;
    return false;
}

/// The most nodes from which a trip count is computed; that of a loop in chunks of iterations takes
/// nine.
constexpr int kMostTripNodes = 32;

/// Returns the value of an i32 if it depends on sizes alone, as the length of a chunk of iterations
/// does.
std::optional<Size> size_of(const KernelCode& code, NodeId id, int& nodes) {
    const KernelNode& n = code[id];
    if (--nodes < 0 || n.dtype != i32) return std::nullopt;
    if (const auto* value = n.get_if<Scalar>()) return Size(value->i);
    if (const auto* given = n.get_if<ParamAttr>()) {
        const ParamInfo& param = code.params[given->param];
        return param.scalar < 0 ? std::optional(param.size) : std::nullopt;
    }
    if (n.args.size() != 2) return std::nullopt;
    const auto a = size_of(code, n.args[0], nodes), b = size_of(code, n.args[1], nodes);
    if (!a || !b) return std::nullopt;
    switch (n.op) {
        case KernelOp::Add: return *a + *b;
        case KernelOp::Sub: return *a - *b;
        case KernelOp::Mul: return *a * *b;
        case KernelOp::Min: return min(*a, *b);
        case KernelOp::Max: return max(*a, *b);
        case KernelOp::Div:
            return a->lower_bound() >= 0 && b->lower_bound() > 0 ? std::optional(floor_div(*a, *b))
                                                                 : std::nullopt;
        default: return std::nullopt;
    }
}

/// Returns the trip count of a loop if a call knows it before its data.
std::optional<Size> known_trips(const KernelCode& code, const Range& range) {
    int nodes = kMostTripNodes;
    const auto trips = range.extent_node ? size_of(code, range.extent_node, nodes) : std::nullopt;
    return trips ? std::optional(max(*trips, Size(0))) : std::nullopt;
}

/// A function that returns the operations that a node counts as.
using Counts = std::function<int64_t(NodeId)>;

Size region_operations(const KernelCode& code, RegionId region_id, const Counts& counts) {
    const KernelRegion& region = code[region_id];
    int64_t plain = 0;
    Size total(0);
    auto visit = [&](NodeId id) {
        const KernelNode& n = code[id];
        plain += counts(id);
        for (RegionId body : bodies(n)) {
            const Size inside = region_operations(code, body, counts);
            const RangeId range = code[body].range;
            total += range ? inside * known_trips(code, code[range]).value_or(Size(1)) : inside;
        }
    };
    for (NodeId id : region.order) visit(id);
    for (NodeId id : region.effects) visit(id);
    return total + Size(plain);
}

/// Counts the elements of each buffer that are loaded and stored, if no two are the same.
struct Touched {
    using Access = std::pair<int, bool>;  // the program's buffer, and whether it is written
    std::map<Access, Size> elements;
    std::set<Access> unknown;  // in loops whose trip counts depend on data
};

void add_touched(const KernelCode& code, RegionId region_id, const Size& times, bool known,
                 Touched& out) {
    const auto visit = [&](NodeId id) {
        const KernelNode& n = code[id];
        for (RegionId body : bodies(n)) {
            const RangeId range = code[body].range;
            const std::optional<Size> trips = range ? known_trips(code, code[range]) : Size(1);
            add_touched(code, body, times * trips.value_or(Size(1)), known && trips, out);
        }
        if (const auto* own = n.get_if<AccessAttr>(); own && own->buffer >= 0) {
            const KernelBuffer& buffer = code.buffers[own->buffer];
            const Touched::Access access{buffer.buffer, buffer.written};
            if (!known) out.unknown.insert(access);
            out.elements[access] = out.elements[access] + times * Size(std::max(own->width, 1));
        }
    };
    for (NodeId id : code[region_id].order) visit(id);
    for (NodeId id : code[region_id].effects) visit(id);
}

Size indices_of(const KernelCode& code) {
    Size grid(1);
    for (const Range& r : code.ranges)
        if (r.kind != RangeKind::Serial) grid = grid * r.extent;
    return grid;
}

/// Marks the nodes that stored values are computed from.
class ValueNodes {
  public:
    explicit ValueNodes(const KernelCode& code) : code_(code), marked_(code.nodes.size()) {
        mark_effects(kRoot);
    }
    bool contains(NodeId id) const { return marked_[id]; }

  private:
    void mark_effects(RegionId region) {
        for (NodeId effect : code_[region].effects) mark(effect);
    }

    void mark(NodeId root) {
        std::vector<NodeId> queue{root};
        const auto push = [&](NodeId id) {
            if (!contains(id)) marked_[id] = true, queue.push_back(id);
        };
        while (!queue.empty()) {
            const KernelNode& n = code_[queue.back()];
            queue.pop_back();
            if (n.op == KernelOp::Load) continue;
            const bool placed = n.op == KernelOp::Store || n.op == KernelOp::Atomic;
            for (size_t k = placed; k < n.args.size(); ++k) push(n.args[k]);
            for (RegionId body : bodies(n)) {
                for (NodeId yield : code_[body].yields) push(yield);
                for (NodeId effect : code_[body].effects) push(effect);
            }
        }
    }

    const KernelCode& code_;
    ByNode<bool> marked_;
};

}  // namespace

Size value_operations(const KernelCode& code) {
    const ValueNodes values(code);
    return indices_of(code) * region_operations(code, kRoot, [&](NodeId id) {
               const KernelOp op = code[id].op;
               return int64_t{values.contains(id) &&
                              (op == KernelOp::RowReduce || is_elementwise(op)) &&
                              op != KernelOp::Cast && op != KernelOp::Bitcast};
           });
}

Size simple_operations(const KernelCode& code) {
    return indices_of(code) * region_operations(code, kRoot, [&](NodeId id) {
               const KernelNode& node = code[id];
               if (!is_arithmetic(code, node)) return int64_t{0};
               return static_cast<int64_t>(std::max(1.0, operation_cost(info(node.op))));
           });
}

Work count_work(const KernelCode& code) {
    const Size grid = indices_of(code);
    Work work;
    work.operations = grid * region_operations(code, kRoot, [&](NodeId id) {
                          return int64_t{is_arithmetic(code, code[id])};
                      });
    Touched touched;
    add_touched(code, kRoot, grid, true, touched);
    std::set<int> read, written;
    for (const KernelBuffer& b : code.buffers) {
        if (b.space != MemorySpace::Bound) continue;
        // A kernel that keeps a state of many touches no other.
        const Touched::Access access{b.buffer, b.written};
        const auto found = touched.elements.find(access);
        const bool part = found != touched.elements.end() && !touched.unknown.contains(access) &&
                          (b.elements - found->second).lower_bound() > 0;
        const Size bytes = (part ? found->second : b.elements) * Size(b.dtype.bytes());
        if (b.written && written.insert(b.buffer).second) work.bytes_written += bytes;
        if (!b.written && read.insert(b.buffer).second) work.bytes_read += bytes;
    }
    return work;
}

Work largest(const Work& work) {
    return {largest(work.operations), largest(work.bytes_read), largest(work.bytes_written)};
}

}  // namespace firn
