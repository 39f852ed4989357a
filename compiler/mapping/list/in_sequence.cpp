// Mapped kernels, one after the other in one.
#include "compiler/mapping/list/in_sequence.h"

#include <algorithm>
#include <array>
#include <bit>

#include "compiler/base/error.h"
#include "compiler/ir/host_op.h"
#include "compiler/kernel/bindings.h"
#include "compiler/target/target.h"

namespace firn {
namespace {

Size at_iteration(const Size& size, const std::string& induction, int64_t iteration) {
    return size.substitute({{induction, Size(iteration)}});
}

/// Returns how much the size grows from one iteration to the next.
Size growth(const Size& size, const std::string& induction) {
    return at_iteration(size, induction, 1) - at_iteration(size, induction, 0);
}

/// Returns the new nodes of `ids`.
std::vector<NodeId> taken(const std::vector<NodeId>& ids, const ByNode<NodeId>& nodes) {
    std::vector<NodeId> out;
    for (NodeId id : ids) out.push_back(nodes[id]);
    return out;
}

/// A block of elements of a buffer.
bool is_block(const KernelNode& n) {
    return (n.op == KernelOp::Load || n.op == KernelOp::Store) && width(n) > 1;
}

}  // namespace

std::vector<NodeId> InSequence::Taken::all(const std::vector<NodeId>& ids) const {
    std::vector<NodeId> out;
    for (NodeId id : ids) {
        const auto found = several.find(id);
        if (found == several.end())
            out.push_back(nodes[id]);
        else
            out.insert(out.end(), found->second.begin(), found->second.end());
    }
    return out;
}

Size own_elements(const Size& elements) {
    return ceil_div(elements, kBlockWidth) * Size(kBlockWidth);
}

bool linear_in(const Size& size, const std::string& induction) {
    return size ==
           at_iteration(size, induction, 0) + growth(size, induction) * Size::symbol(induction);
}

InSequence::InSequence(uint32_t invocations, const Program& program, const Size& bands,
                       std::set<int> own)
    : program_(program), bands_(bands), own_(std::move(own)), loops_(1) {
    code_.group_size = {invocations, 1, 1};
    code_.groups[0] = bands;
    code_.in_order = true;
}

NodeId InSequence::new_node(KernelNode node) {
    const NodeId id = code_.nodes.end_id();
    code_.nodes.push_back(std::move(node));
    return id;
}

NodeId InSequence::made(KernelOp op, std::vector<NodeId> args, DType dtype) {
    KernelNode node;
    node.op = op;
    node.dtype = dtype;
    node.args = std::move(args);
    const NodeId id = new_node(std::move(node));
    order().push_back(id);
    return id;
}

/// Sizes that differ by numbers alone share a parameter: a sequence has many, and room for
/// parameters is scarce.
NodeId InSequence::size(const Size& size) {
    const SizeSum sum = as_sum(size.substitute(iterations_));
    const auto constant = [&](int64_t value) { return new_node(constant_node(scalar_int(value))); };
    NodeId out;
    for (const auto& [coefficient, factors] : sum.terms) {
        NodeId term = product(factors);
        if (coefficient != 1) term = made(KernelOp::Mul, {term, constant(coefficient)});
        out = out ? made(KernelOp::Add, {out, term}) : term;
    }
    if (!out) return constant(sum.constant);
    return sum.constant ? made(KernelOp::Add, {out, constant(sum.constant)}) : out;
}

/// Computes the product in the kernel if it changes with the iteration of a loop around it; else it
/// is a parameter.
NodeId InSequence::product(const Size& factors) {
    for (size_t k = loops_.size(); k-- > 1;)
        if (mentions(factors, loops_[k].induction)) {
            const NodeId index = loops_[k].index;
            const Size step = growth(factors, loops_[k].induction);
            return step.is(1) ? index : made(KernelOp::Mul, {index, size(step)});
        }
    return param({i32, factors, -1});
}

NodeId InSequence::param(const ParamInfo& info) {
    KernelNode node;
    const auto at = std::find(code_.params.begin(), code_.params.end(), info);
    node.op = KernelOp::Param;
    node.dtype = info.dtype;
    node.attr = ParamAttr{static_cast<int>(at - code_.params.begin())};
    if (at == code_.params.end()) code_.params.push_back(info);
    return new_node(std::move(node));
}

/// Returns the node of a host number. One that changes with the iteration of a loop around it is
/// computed in the iteration.
NodeId InSequence::number(int k) {
    const auto [known, added] = numbers_.try_emplace(k);
    if (!added) return known->second;
    const auto in_loop = [&](const Size& size) {
        const auto is_in = [&](const Loop& loop) { return mentions(size, loop.induction); };
        return std::any_of(loops_.begin() + 1, loops_.end(), is_in) ||
               std::any_of(iterations_.begin(), iterations_.end(),
                           [&](const auto& iteration) { return mentions(size, iteration.first); });
    };
    const HostScalar& s = program_.host_scalars[static_cast<size_t>(k)];
    NodeId& node = known->second;
    if (!any_size(program_.host_scalars, k, in_loop))
        return node = param({f32, Size(), static_cast<int>(program_.arguments.size()) + k});
    if (s.op == HostOp::Size) return node = made(KernelOp::Cast, {size(s.size)}, f32);
    std::vector<NodeId> operands;
    for (int operand : {s.a, s.b})
        if (operand >= 0) operands.push_back(number(operand));
    return node = made(kernel_op(*op_of(s.op)), std::move(operands), f32);
}

RangeId InSequence::range(const Range& range, const ByNode<NodeId>& nodes) {
    if (range.kind == RangeKind::Serial) {
        const RangeId id = code_.ranges.end_id();
        code_.ranges.push_back(range);
        NodeId& trips = code_.ranges.back().extent_node;
        if (trips) trips = nodes[trips];
        return id;
    }
    const bool band = range.kind == RangeKind::Group;  // on whichever axis the part has them
    const auto same = [&](const Range& r) {
        return r.kind == range.kind && (band || r.dim == range.dim) && r.extent == range.extent;
    };
    const auto at = std::find_if(code_.ranges.begin(), code_.ranges.end(), same);
    const RangeId id(at - code_.ranges.begin());
    if (at == code_.ranges.end()) {
        code_.ranges.push_back(range);
        if (band) code_.ranges.back().dim = 0;
    }
    return id;
}

bool InSequence::is_own(const KernelBuffer& buffer) const {
    return own_.contains(buffer.buffer) && !(bound_side_ && *bound_side_ == buffer.written);
}

int InSequence::buffer(const KernelBuffer& wanted) {
    KernelBuffer buffer = wanted;
    if (is_own(buffer)) {
        buffer.space = MemorySpace::Shared, buffer.form = BindingForm::Storage;
        buffer.width = 1, buffer.written = true;
        buffer.elements = own_elements(buffer.elements);
    }
    const auto same = [&](const KernelBuffer& b) {
        return b.buffer == buffer.buffer && b.space == buffer.space && b.dtype == buffer.dtype &&
               b.form == buffer.form && b.width == buffer.width;
    };
    const auto at = std::find_if(code_.buffers.begin(), code_.buffers.end(), same);
    const auto index = at - code_.buffers.begin();
    if (at == code_.buffers.end())
        code_.buffers.push_back(buffer);
    else
        at->written |= buffer.written;
    return static_cast<int>(index);
}

/// A block's elements as loads or stores of one each, behind the nodes of their places: loads
/// first to last are every other one.
std::vector<NodeId> InSequence::one_by_one(const KernelNode& block) {
    std::vector<NodeId> out;
    for (int k = 0; k < width(block); ++k) {
        KernelNode one = block;
        one.as<AccessAttr>().width = 1;
        one.args = {block.args[0]};
        if (k > 0) {
            KernelNode place;
            place.op = KernelOp::Add;
            place.dtype = i32;
            place.args = {block.args[0], new_node(constant_node(scalar_int(k)))};
            one.args[0] = new_node(std::move(place));
            out.push_back(one.args[0]);
        }
        if (block.op == KernelOp::Store) one.args.push_back(block.args[static_cast<size_t>(k) + 1]);
        out.push_back(new_node(std::move(one)));
    }
    return out;
}

/// The number of the invocation in its group.
NodeId InSequence::invocation() {
    Range all;
    all.name = "t", all.kind = RangeKind::Invocation, all.extent = Size(code_.group_size[0]);
    KernelNode node;
    node.op = KernelOp::Range;
    node.dtype = i32;
    node.attr = range(all, {});
    node.interval = {0, static_cast<int64_t>(code_.group_size[0]) - 1};
    return new_node(std::move(node));
}

/// Its place along a dimension of the part's group.
NodeId InSequence::place(const KernelCode& part, int dim) {
    const uint32_t wide = part.group_size[0];
    if (wide == code_.group_size[0]) return invocation();
    const int64_t by = dim == 0 ? wide : std::countr_zero(wide);
    const NodeId operand = new_node(constant_node(scalar_int(by)));
    const NodeId out =
        made(dim == 0 ? KernelOp::LowBits : KernelOp::ShiftRight, {invocation(), operand});
    code_[out].interval = {0, static_cast<int64_t>(part.group_size[static_cast<size_t>(dim)]) - 1};
    return out;
}

/// Returns whether this invocation is the first of those that would do the same, along dimensions
/// of the group that the part does not use; none: it uses all.
NodeId InSequence::first_of_unused(const KernelCode& part) {
    NodeId out;
    for (int dim = 0; dim < 2; ++dim) {
        const bool used = std::any_of(part.ranges.begin(), part.ranges.end(), [&](const Range& r) {
            return r.kind == RangeKind::Subgroup ||
                   (r.kind == RangeKind::Invocation && r.dim == dim);
        });
        if (part.group_size[static_cast<size_t>(dim)] == 1 || used) continue;
        const NodeId first = made(KernelOp::Equal, {place(part, dim), size(Size(0))}, boolean);
        out = out ? made(KernelOp::And, {out, first}, boolean) : first;
    }
    return out;
}

/// All nodes of the part, and its regions but the root, which is the place where it stands.
InSequence::Taken InSequence::take_nodes(const KernelCode& part) {
    const size_t regions = code_.regions.size() - 1;
    const auto region = [&](RegionId id) {
        return id > kRoot ? RegionId(regions + id.place()) : RegionId();
    };
    Taken out;
    ByNode<NodeId>& nodes = out.nodes;
    std::vector<int> buffers;
    ByRange<RangeId> ranges(part.ranges.size());
    std::map<NodeId, std::vector<NodeId>> blocks;  // by node of the part: its elements
    numbers_.clear();
    for (const KernelBuffer& b : part.buffers) buffers.push_back(buffer(b));
    const auto range_of = [&](RangeId r) {
        RangeId& made = ranges[r];
        if (!made) made = range(part[r], nodes);
        return made;
    };
    for (const KernelNode& n : part.nodes) {
        const NodeId id = nodes.end_id();
        if (n.op == KernelOp::Param) {
            const ParamInfo& info = part.params[static_cast<size_t>(n.as<ParamAttr>().param)];
            const int computed = info.scalar - static_cast<int>(program_.arguments.size());
            nodes.push_back(info.scalar < 0 ? size(info.size)
                            : computed < 0  ? param(info)
                                            : number(computed));
            continue;
        }
        if (n.op == KernelOp::Lane && blocks.contains(n.args[0])) {
            nodes.push_back(blocks.at(n.args[0])[static_cast<size_t>(n.as<LaneAttr>().lane)]);
            out.several[id] = {};
            continue;
        }
        if (n.op == KernelOp::Range) {
            const Range& range = part[n.as<RangeId>()];
            if (range.kind == RangeKind::Invocation) {
                nodes.push_back(place(part, range.dim));
                continue;
            }
        }
        KernelNode node = n;
        node.args = taken(n.args, nodes);
        if (const auto* own = n.get_if<BodyAttr>())
            node.attr = BodyAttr{region(own->region), region(own->else_region)};
        if (const auto* carried = n.get_if<CarriedAttr>())
            node.as<CarriedAttr>().region = region(carried->region);
        const auto* access = n.get_if<AccessAttr>();
        if (access) node.as<AccessAttr>().buffer = buffers[static_cast<size_t>(access->buffer)];
        if (const auto* index = n.get_if<RangeId>()) {
            // There is one group, along all axes but that of bands.
            const Range& range = part[*index];
            if (range.kind == RangeKind::Group && (bands_.is(1) || !(range.extent == bands_)))
                node.op = KernelOp::Constant, node.attr = scalar_int(0);
            else
                node.attr = range_of(*index);
        }
        if (is_block(n) && is_own(part.buffers[static_cast<size_t>(access->buffer)])) {
            const std::vector<NodeId> made = one_by_one(node);
            for (size_t k = 0; k < made.size(); k += 2) blocks[id].push_back(made[k]);
            nodes.push_back(made[0]);
            out.several[id] = made;
            continue;
        }
        nodes.push_back(new_node(std::move(node)));
    }
    for (RegionId r : Ids<RegionId>{kRoot.next(), part.regions.end_id()}) {
        const KernelRegion& from = part[r];
        KernelRegion to;
        to.args = taken(from.args, nodes), to.yields = taken(from.yields, nodes);
        to.order = out.all(from.order), to.effects = out.all(from.effects);
        if (from.range) to.range = range_of(from.range);
        if (from.alive) to.alive = nodes[from.alive];
        code_.regions.push_back(std::move(to));
    }
    return out;
}

NodeId InSequence::branch(NodeId condition, std::vector<NodeId> inside) {
    KernelNode node;
    node.op = KernelOp::Branch;
    node.args = {condition};
    node.attr = BodyAttr{.region = code_.regions.end_id()};
    KernelRegion region;
    region.order = std::move(inside);
    code_.regions.push_back(std::move(region));
    return new_node(std::move(node));
}

void InSequence::add(const KernelCode& part) {
    const bool own_memory =
        std::any_of(part.buffers.begin(), part.buffers.end(),
                    [](const KernelBuffer& b) { return b.space != MemorySpace::Bound; });
    // Buffers of a sequence are coherent; matrices come with a memory model in which that means
    // something else.
    const bool matrices = std::any_of(part.nodes.begin(), part.nodes.end(),
                                      [](const KernelNode& n) { return is_matrix(n.op); });
    const std::array<uint32_t, 3>& group = part.group_size;
    ensure(group[0] * group[1] == code_.group_size[0] && group[2] == 1 && part.sizes_buffer < 0 &&
               !own_memory && !matrices,
           "sequence: a kernel that cannot follow others");
    if (code_.name.empty()) code_.name = part.name;
    const Taken taken = take_nodes(part);
    std::vector<NodeId> root = taken.all(part[kRoot].order);
    const std::vector<NodeId> effects = taken.all(part[kRoot].effects);
    root.insert(root.end(), effects.begin(), effects.end());
    if (const NodeId alone = first_of_unused(part)) root = {branch(alone, std::move(root))};
    order().insert(order().end(), root.begin(), root.end());
    KernelNode barrier;
    barrier.op = KernelOp::Barrier;
    barrier.dtype = i32;
    barrier.pinned = true;
    order().push_back(new_node(std::move(barrier)));
    code_.guards += part.guards;
}

void InSequence::add_copy(const KernelCode& part, bool in) {
    bound_side_ = !in;
    add(part);
    bound_side_.reset();
}

void InSequence::open_loop(const Size& trips, int64_t most, const std::string& induction) {
    Range iterations;
    iterations.name = "iteration";
    iterations.kind = RangeKind::Serial;
    iterations.extent_node = size(max(trips, Size(0)));
    iterations.max_trips = most;
    const RangeId range = code_.ranges.end_id();
    code_.ranges.push_back(iterations);
    Loop loop;
    loop.region = code_.regions.end_id();
    loop.induction = induction;
    KernelRegion body;
    body.range = range;
    code_.regions.push_back(std::move(body));
    KernelNode index;
    index.op = KernelOp::Range;
    index.dtype = i32;
    index.attr = range;
    index.interval = {0, std::max<int64_t>(0, most - 1)};
    loop.index = new_node(std::move(index));
    loops_.push_back(std::move(loop));
}

void InSequence::close_loop() {
    KernelNode node;
    node.op = KernelOp::For;
    node.attr = BodyAttr{.region = loops_.back().region};
    loops_.pop_back();
    order().push_back(new_node(std::move(node)));
}

KernelCode InSequence::finish(const DeviceProfile& profile) {
    ensure(loops_.size() == 1, "sequence: a loop is open");
    for (KernelBuffer& b : code_.buffers)
        if (b.space != MemorySpace::Bound)
            b.buffer = -1;  // no other kernel uses it
        else
            for (const KernelBuffer& other : code_.buffers)
                b.coherent |= other.written && other.buffer == b.buffer;
    drop_unused_buffers(code_);
    code_.back_edges = target_of(profile).count_back_edges(code_, profile);
    return std::move(code_);
}

}  // namespace firn
