// The structure of a kernel: its computation without the numbers of its nodes and the buffers it is
// given.
#include "compiler/kernel/structure.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/base/disk_cache.h"
#include "compiler/base/error.h"
#include "compiler/kernel/long_divisions.h"

namespace firn {
namespace {

/// Writes a kernel as words, of which each says how many follow that belong to it: no two kernels
/// give the same words in different ways.
struct StructureWriter {
    static constexpr size_t kWordsOfNode = 12;  // of one with three operands
    const KernelCode& code;
    FloatRanges floats;
    bool divides_at_length;  // a target may write long divisions as loops, where bounds allow it
    std::vector<uint64_t> words;
    ByNode<int> numbers;       // of nodes that were met, -1: not met
    ByRange<int> loop_ranges;  // of Serial ranges likewise
    int next = 0;

    explicit StructureWriter(const KernelCode& code)
        : code(code),
          floats(code),
          divides_at_length(
              std::any_of(code.nodes.begin(), code.nodes.end(),
                          [&](const KernelNode& n) { return is_long_division(n, floats, code); })),
          numbers(code.nodes.size(), -1),
          loop_ranges(code.ranges.size(), -1) {
        words.reserve(code.nodes.size() * kWordsOfNode);
    }

    template <class T>
    void put(T value) {
        words.push_back(static_cast<uint64_t>(value));
    }
};

/// Returns the first binding of buffer k's memory if that memory is stored to, because a load by
/// another binding may see the stores; else k itself.
size_t shared_memory(const std::vector<KernelBuffer>& buffers, size_t k) {
    size_t first = k;
    bool written = false;
    for (size_t other = 0; other < buffers.size(); ++other) {
        if (buffers[other].buffer != buffers[k].buffer) continue;
        first = std::min(first, other);
        written |= buffers[other].written;
    }
    return written ? first : k;
}

void put_buffers(StructureWriter& out) {
    const std::vector<KernelBuffer>& buffers = out.code.buffers;
    out.put(buffers.size());
    for (size_t k = 0; k < buffers.size(); ++k) {
        const KernelBuffer& b = buffers[k];
        out.put(b.dtype.type);
        out.put(b.form);
        out.put(b.width);
        out.put(b.written);
        out.put(b.coherent);
        out.put(b.space);
        out.put(b.space == MemorySpace::Bound ? shared_memory(buffers, k)
                                              : static_cast<uint64_t>(b.elements.constant()));
    }
}

/// Returns the lanes of a subgroup, if the kernel says it.
int64_t lanes_of(const KernelCode& code) {
    for (const Range& range : code.ranges)
        if (range.kind == RangeKind::Subgroup && range.dim == 0) return range.extent.constant();
    return 0;
}

void put_facts(StructureWriter& out) {
    for (uint32_t size : out.code.group_size) out.put(size);
    out.put(lanes_of(out.code));
    out.put(out.code.params.size());
    for (const ParamInfo& param : out.code.params) {
        out.put(param.dtype.type);
        out.put(out.code.on_device(param));
    }
    out.put(out.code.sizes_buffer);
    out.put(out.code.loads_first && out.code.in_order);
    out.put(out.divides_at_length);
    if (out.divides_at_length) out.put(out.code.back_edges);
    put_buffers(out);
}

void put_range(StructureWriter& out, RangeId id) {
    const Range& range = out.code[id];
    out.put(range.kind);
    out.put(range.kind == RangeKind::Serial ? out.loop_ranges[id] : range.dim);
}

/// Writes a use of a value: the number of a value met before, a leaf in full.
void put_use(StructureWriter& out, NodeId id) {
    const KernelNode& n = out.code[id];
    const int number = out.numbers[id];
    out.put(n.op);
    out.put(n.dtype.type);
    switch (n.op) {
        case KernelOp::Constant:
            out.put(n.as<Scalar>().i);
            out.put(std::bit_cast<uint64_t>(n.as<Scalar>().f));
            return;
        case KernelOp::Param: out.put(n.as<ParamAttr>().param); return;
        case KernelOp::Range: put_range(out, n.as<RangeId>()); return;
        default:
            ensure(number >= 0, "structure_of: a value is asked for before it is computed");
            out.put(number);
    }
}

void put_uses(StructureWriter& out, const std::vector<NodeId>& ids) {
    out.put(ids.size());
    for (NodeId id : ids) put_use(out, id);
}

void meet(StructureWriter& out, NodeId id) { out.numbers[id] = out.next++; }

/// Writes the node without its operands and its regions.
void put_fields(StructureWriter& out, const KernelNode& n) {
    const auto* access = n.get_if<AccessAttr>();
    if (const auto* lane = n.get_if<LaneAttr>()) out.put(lane->lane);
    if (const auto* result = n.get_if<PositionAttr>()) out.put(result->position);
    if (const auto* reduce = n.get_if<ReduceOp>()) out.put(*reduce);
    if (n.op == KernelOp::Atomic) out.put(access->combine);
    if (access) out.put(access->buffer);
    if (n.op == KernelOp::Load || n.op == KernelOp::Store) out.put(access->width);
    if (is_matrix(n.op)) {
        out.put(n.matrix.rows);
        out.put(n.matrix.columns);
        out.put(access && access->column_major);
    }
}

/// Writes the bounds that emission needs: a division of a non-negative value by a positive one
/// needs no special case, and a remainder of a small quotient no long division.
void put_bounds(StructureWriter& out, const KernelNode& n) {
    const auto at_least = [&](NodeId id, int64_t lowest) {
        return out.code[id].dtype == i32 && out.code[id].interval.lo >= lowest;
    };
    if (n.op == KernelOp::Div || n.op == KernelOp::Mod)
        out.put(n.dtype == i32 && at_least(n.args[0], 0) && at_least(n.args[1], 1));
    if (n.op == KernelOp::Mod && n.dtype.is_float())
        out.put(has_small_quotient(n, out.floats, out.code));
}

/// False where there is no such region, and where its condition is a constant that never holds.
bool is_entered(const StructureWriter& out, const KernelNode& n, RegionId region) {
    if (!region || n.op == KernelOp::For) return bool(region);
    const auto* known = out.code[n.args[0]].get_if<Scalar>();
    return !known || (known->i != 0) == (region == n.as<BodyAttr>().region);
}

void put_region(StructureWriter& out, RegionId id);

void put_node(StructureWriter& out, NodeId id) {
    const KernelNode& n = out.code[id];
    const auto* own = n.get_if<BodyAttr>();
    out.put(n.op);
    out.put(own ? boolean.type : n.dtype.type);
    out.put(n.pinned);
    put_fields(out, n);
    put_bounds(out, n);
    put_uses(out, n.args);
    if (n.op == KernelOp::For) {
        const RangeId range = out.code[own->region].range;
        put_use(out, out.code[range].extent_node);
        out.put(out.code[range].written_out);
        if (out.divides_at_length) out.put(out.code[range].max_trips);
        out.loop_ranges[range] = out.next++;
    }
    meet(out, id);
    if (!own) return;
    for (RegionId region : {own->region, own->else_region}) {
        out.put(is_entered(out, n, region));
        if (is_entered(out, n, region)) put_region(out, region);
    }
}

void put_region(StructureWriter& out, RegionId id) {
    const KernelRegion& region = out.code[id];
    out.put(region.args.size());
    for (NodeId arg : region.args) {
        const KernelNode& n = out.code[arg];
        out.put(n.dtype.type);
        out.put(n.matrix.rows);
        out.put(n.matrix.columns);
        meet(out, arg);
    }
    for (const std::vector<NodeId>* list : {&region.order, &region.effects}) {
        out.put(list->size());
        for (NodeId node : *list) put_node(out, node);
    }
    put_uses(out, region.yields);
    out.put(bool(region.alive));
    if (region.alive) put_use(out, region.alive);
}

StructureWriter written(const KernelCode& code) {
    StructureWriter out(code);
    put_facts(out);
    put_region(out, kRoot);
    return out;
}

/// The names of all operations, in order: a word names an operation by its place among them.
constexpr const char* kOperations =
#define OP(name, arity, result, properties) #name " "
#include "compiler/kernel/kernel_ops.def"
#undef OP
    ;

uint64_t hash_of(const std::vector<uint64_t>& words) {
    uint64_t h = words.size();
    for (uint64_t word : words) h = (h ^ word) * 0x9E3779B97F4A7C15ull, h ^= h >> 29;
    return h;
}

}  // namespace

std::string identity_of(const KernelStructure& structure) {
    std::string all = kOperations;
    all.append(reinterpret_cast<const char*>(structure.words.data()),
               sizeof(uint64_t) * structure.words.size());
    return cache_hash(all);
}

void widen(KernelCode& code, const KernelCode& equal) {
    const StructureWriter own = written(code), other = written(equal);
    const auto wider = [](int64_t a, int64_t b) { return a < 0 || b < 0 ? -1 : std::max(a, b); };
    for (RangeId id : code.ranges.ids()) {
        if (own.loop_ranges[id] < 0) continue;
        const auto same =
            std::find(other.loop_ranges.begin(), other.loop_ranges.end(), own.loop_ranges[id]);
        ensure(same != other.loop_ranges.end(), "widen: the kernels are not equal");
        const RangeId at(same - other.loop_ranges.begin());
        code[id].max_trips = wider(code[id].max_trips, equal[at].max_trips);
    }
    code.back_edges = wider(code.back_edges, equal.back_edges);
    code.guards = std::max(code.guards, equal.guards);
}

KernelStructure structure_of(const KernelCode& code) {
    StructureWriter out = written(code);
    const uint64_t hash = hash_of(out.words);
    return {std::move(out.words), hash};
}

}  // namespace firn
