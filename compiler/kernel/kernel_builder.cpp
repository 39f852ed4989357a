// Hash-consing, leaves, regions and effects of Kernel code; index algebra is in kernel_algebra.cpp.
#include "compiler/kernel/kernel_builder.h"

#include <algorithm>
#include <bit>

#include "compiler/program/index_limits.h"

namespace firn {
namespace {

void mix(uint64_t& h, uint64_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; }

struct AttrHash {
    static uint64_t part(int field, uint64_t factor) {
        return static_cast<uint64_t>(field) * factor;
    }
    uint64_t operator()(std::monostate) const { return 0; }
    uint64_t operator()(const Scalar& value) const {
        return static_cast<uint64_t>(value.i) ^ std::bit_cast<uint64_t>(value.f);
    }
    uint64_t operator()(RangeId range) const { return part(range.number(), 0xD6E8FEB86659FD93ull); }
    uint64_t operator()(const ParamAttr& a) const { return part(a.param, 0xA24BAED4963EE407ull); }
    uint64_t operator()(const PositionAttr& a) const {
        return part(a.position, 0xC2B2AE3D27D4EB4Full);
    }
    uint64_t operator()(const AccessAttr& a) const {
        return part(a.buffer, 0x9FB21C651E98DF25ull) + part(a.width, 0x27D4EB2F165667C5ull);
    }
    uint64_t operator()(const LaneAttr& a) const { return part(a.lane, 0x165667B19E3779F9ull); }
    uint64_t operator()(ReduceOp op) const {
        return part(static_cast<int>(op), 0x94D049BB133111EBull);
    }
    // A RegionArg, For or Branch equals no other node.
    uint64_t operator()(const CarriedAttr&) const { return 0; }
    uint64_t operator()(const BodyAttr&) const { return 0; }
};

uint64_t hash_node(const KernelNode& n) {
    uint64_t h = static_cast<uint64_t>(n.op) * 131 + static_cast<uint64_t>(n.dtype.type);
    h += std::visit(AttrHash{}, n.attr);
    for (NodeId arg : n.args) mix(h, static_cast<uint64_t>(arg.number()));
    mix(h, 0);
    return h;
}

bool same_node(const KernelNode& a, const KernelNode& b) {
    return a.op == b.op && a.dtype == b.dtype && a.args == b.args && a.attr == b.attr &&
           a.guard == b.guard && a.matrix == b.matrix;
}

void add_lines(std::vector<SourceLine>& to, const std::vector<SourceLine>& from) {
    for (const SourceLine& line : from)
        if (to.size() < 4 && std::find(to.begin(), to.end(), line) == to.end()) to.push_back(line);
}

}  // namespace

KernelBuilder::KernelBuilder(KernelCode& code, SymbolFacts facts)
    : code_(code), symbol_facts_(std::move(facts)) {}

size_t KernelBuilder::find_slot(const KernelNode& node) {
    if (taken_ * 2 >= slots_.size()) {
        std::vector<Slot> before(std::max<size_t>(64, slots_.size() * 2));
        before.swap(slots_);
        for (const Slot& slot : before) {
            size_t at = slot.hash & (slots_.size() - 1);
            while (slot.id && slots_[at].id) at = (at + 1) & (slots_.size() - 1);
            if (slot.id) slots_[at] = slot;
        }
    }
    const uint64_t hash = hash_node(node);
    size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].id; at = (at + 1) & (slots_.size() - 1))
        if (slots_[at].hash == hash && same_node(code_[slots_[at].id], node)) return at;
    slots_[at].hash = hash;
    return at;
}

NodeId KernelBuilder::intern(KernelNode node) {
    const bool unique = node.pinned || node.op == KernelOp::For || node.op == KernelOp::Branch ||
                        node.op == KernelOp::RegionArg || (info(node.op).properties & kEffect);
    size_t slot = 0;
    if (!unique) {
        slot = find_slot(node);
        if (const NodeId known = slots_[slot].id) {
            add_lines(code_[known].lines, lines_);
            return known;
        }
    }
    const NodeId id = code_.nodes.end_id();
    node.lines = lines_;
    code_.nodes.push_back(std::move(node));
    KernelNode& added = code_[id];
    if (has_bounds(added) && is_elementwise(added.op)) bound(code_, added);
    facts_.push_back(facts_of(code_, facts_, symbol_facts_, id));
    if (!unique) slots_[slot].id = id, ++taken_;
    return id;
}

NodeId KernelBuilder::constant(const Scalar& value) { return intern(constant_node(value)); }

NodeId KernelBuilder::size(const Size& value) {
    if (value.is_constant())
        return integer(index_value(value, {}, "a kernel" + in_brackets(lines_)));
    ParamInfo param{i32, value, -1};
    auto it = std::find(code_.params.begin(), code_.params.end(), param);
    KernelNode n;
    n.op = KernelOp::Param;
    n.dtype = i32;
    n.attr = ParamAttr{static_cast<int>(it - code_.params.begin())};
    if (it == code_.params.end()) code_.params.push_back(param);
    n.interval = {std::max<int64_t>(value.lower_bound(symbol_facts_.largest), INT32_MIN),
                  std::min<int64_t>(value.upper_bound(symbol_facts_.largest), INT32_MAX)};
    n.congruence.mod = std::max<int64_t>(value.divisor(), 1);
    return intern(std::move(n));
}

bool KernelBuilder::countable(const Size& count) const {
    return count.upper_bound(symbol_facts_.largest) <= kMostIndices;
}

NodeId KernelBuilder::scalar_argument(int argument, DType dtype) {
    ParamInfo param{dtype, Size(0), argument};
    auto it = std::find(code_.params.begin(), code_.params.end(), param);
    KernelNode n;
    n.op = KernelOp::Param;
    n.dtype = dtype;
    n.attr = ParamAttr{static_cast<int>(it - code_.params.begin())};
    if (it == code_.params.end()) code_.params.push_back(param);
    if (const auto known = symbol_facts_.largest.find(scalar_symbol(argument));
        dtype == i32 && known != symbol_facts_.largest.end())
        n.interval = {0, known->second};
    return intern(std::move(n));
}

RangeId KernelBuilder::add_range(Range range) {
    const RangeId id = code_.ranges.end_id();
    code_.ranges.push_back(std::move(range));
    return id;
}

NodeId KernelBuilder::range(RangeId id) {
    if (code_[id].kind == RangeKind::Group && code_[id].extent.is(1)) return integer(0);
    KernelNode n;
    n.op = KernelOp::Range;
    n.dtype = i32;
    n.attr = id;
    const Range& r = code_[id];
    const int64_t trips = r.kind == RangeKind::Serial && r.max_trips < 0 ? INT32_MAX
                          : r.kind == RangeKind::Serial
                              ? r.max_trips
                              : r.extent.upper_bound(symbol_facts_.largest);
    n.interval = {0, std::clamp<int64_t>(trips - 1, 0, INT32_MAX)};
    return intern(std::move(n));
}

NodeId KernelBuilder::load(int buffer, NodeId index, int width) {
    KernelNode n;
    n.op = KernelOp::Load;
    n.dtype = code_.buffers[buffer].dtype;
    n.args = {index};
    n.attr = AccessAttr{.buffer = buffer, .width = width};
    return intern(std::move(n));
}

int64_t KernelBuilder::place_in_block(DType dtype, NodeId index) const {
    return dtype.bytes() == 4 && !is_constant(index)
               ? remainder(node(index).congruence, kBlockWidth)
               : -1;
}

NodeId KernelBuilder::shuffle(NodeId value, int lane, NodeId index) {
    KernelNode n;
    n.op = KernelOp::SubgroupShuffle;
    n.dtype = node(value).dtype;
    n.args = {value, index};
    n.attr = LaneAttr{lane};
    return intern(std::move(n));
}

NodeId KernelBuilder::lane(NodeId vector, int lane, NodeId index) {
    KernelNode n;
    n.op = KernelOp::Lane;
    n.dtype = node(vector).dtype;
    n.args = {vector, index};
    n.attr = LaneAttr{lane};
    return intern(std::move(n));
}

RegionId KernelBuilder::add_region() {
    const RegionId id = code_.regions.end_id();
    code_.regions.emplace_back();
    return id;
}

NodeId KernelBuilder::region_arg(RegionId region, DType dtype, MatrixShape matrix) {
    KernelNode n;
    n.matrix = matrix;
    n.op = KernelOp::RegionArg;
    n.dtype = dtype;
    n.attr = CarriedAttr{region, static_cast<int>(code_[region].args.size())};
    const NodeId id = intern(std::move(n));
    code_[region].args.push_back(id);
    return id;
}

NodeId KernelBuilder::close_for(RegionId region, std::vector<NodeId> inits) {
    KernelNode n;
    n.op = KernelOp::For;
    n.args = std::move(inits);
    n.attr = BodyAttr{.region = region};
    return intern(std::move(n));
}

NodeId KernelBuilder::guarding(NodeId bound) {
    KernelNode n = node(bound);
    if (n.op != KernelOp::Min && n.op != KernelOp::Max) return bound;
    n.guard = true;
    return intern(std::move(n));
}

NodeId KernelBuilder::branch(NodeId condition, RegionId then_region, RegionId else_region,
                             bool guard) {
    KernelNode n;
    n.op = KernelOp::Branch;
    n.args = {condition};
    n.attr = BodyAttr{then_region, else_region};
    n.guard = guard;
    if (guard) ++code_.guards;
    return intern(std::move(n));
}

NodeId KernelBuilder::result(NodeId region_node, int index) {
    const KernelNode& owner = node(region_node);
    KernelNode n;
    n.op = KernelOp::Result;
    const KernelNode& value = node(code_[owner.as<BodyAttr>().region].yields[index]);
    n.dtype = value.dtype;
    n.matrix = value.matrix;
    n.args = {region_node};
    n.attr = PositionAttr{index};
    return intern(std::move(n));
}

NodeId KernelBuilder::store(int buffer, NodeId index, std::span<const NodeId> values) {
    KernelNode n;
    n.op = KernelOp::Store;
    n.dtype = code_.buffers[buffer].dtype;
    n.args = {index};
    n.args.insert(n.args.end(), values.begin(), values.end());
    n.attr = AccessAttr{.buffer = buffer, .width = static_cast<int>(values.size())};
    return intern(std::move(n));
}

NodeId KernelBuilder::atomic(int buffer, ScatterOp combine, NodeId index, NodeId value) {
    KernelNode n;
    n.op = KernelOp::Atomic;
    n.dtype = node(value).dtype;
    n.args = {index, value};
    n.attr = AccessAttr{.buffer = buffer, .combine = combine};
    return intern(std::move(n));
}

NodeId KernelBuilder::pinned(KernelOp op, DType dtype, std::vector<NodeId> args, int buffer,
                             ReduceOp reduce) {
    KernelNode n;
    n.op = op;
    n.dtype = dtype;
    n.args = std::move(args);
    n.attr = empty_attr(op);
    if (auto* access = n.get_if<AccessAttr>()) access->buffer = buffer;
    if (auto* by = n.get_if<ReduceOp>()) *by = reduce;
    n.pinned = true;
    return intern(std::move(n));
}

NodeId KernelBuilder::matrix(KernelOp op, DType dtype, MatrixShape matrix, std::vector<NodeId> args,
                             int buffer, bool column_major) {
    KernelNode n;
    n.op = op;
    n.dtype = dtype;
    n.matrix = matrix;
    n.args = std::move(args);
    if (names_buffer(op)) n.attr = AccessAttr{.buffer = buffer, .column_major = column_major};
    return intern(std::move(n));
}

int KernelBuilder::own_memory(MemorySpace space, DType dtype, const Size& elements, int width) {
    code_.buffers.push_back({-1, dtype, elements, BindingForm::Storage, width, true, space});
    return static_cast<int>(code_.buffers.size()) - 1;
}

NodeId KernelBuilder::reduction(KernelOp op, ReduceOp by, NodeId value) {
    KernelNode n;
    n.op = op;
    n.dtype = node(value).dtype;
    n.args = {value};
    n.attr = by;
    return intern(std::move(n));
}

void KernelBuilder::assume(NodeId id, const Size& lo, const Size& hi) {
    facts_[id].lo = lo;
    facts_[id].hi = hi;
    Interval& known = code_[id].interval;
    known.lo = std::max(known.lo, lo.lower_bound());
    known.hi = std::max(known.lo, std::min(known.hi, hi.upper_bound()));
}

int KernelBuilder::buffer(int program_buffer, DType dtype, const Size& elements, BindingForm form,
                          int width, bool written) {
    for (size_t k = 0; k < code_.buffers.size(); ++k) {
        const KernelBuffer& b = code_.buffers[k];
        if (b.space == MemorySpace::Bound && b.buffer == program_buffer && b.form == form &&
            b.width == width && b.written == written)
            return static_cast<int>(k);
    }
    code_.buffers.push_back({program_buffer, dtype, elements, form, width, written});
    return static_cast<int>(code_.buffers.size()) - 1;
}

bool KernelBuilder::proved_less_equal(NodeId a, NodeId b) const {
    if (node(a).interval.hi <= node(b).interval.lo) return true;
    const NodeFacts &x = facts_[a], &y = facts_[b];
    return x.hi && y.lo && firn::proved_less_equal(*x.hi, *y.lo);
}

}  // namespace firn
