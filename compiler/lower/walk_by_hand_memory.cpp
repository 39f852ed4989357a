// Kernels by hand: the reads, stores and exchanges of an invocation.
#include <unordered_set>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/lower/walk_by_hand_state.h"

namespace firn {

int HandWalk::memory_of(const Node& array) {
    if (auto it = memory_.find(&array); it != memory_.end()) return it->second;
    // Additions of floats that the device lacks are done by exchanging the bits.
    const bool bits = array.dtype.is_float() && arrays_.exchanged.contains(&array) &&
                      (array.op == Op::Array || array.dtype == f64 || !context_.float_atomic_add ||
                       arrays_.exchanged.at(&array));
    const DType stored = bits ? bits_type(array.dtype) : array.dtype;
    int buffer;
    if (in_memory(array)) {
        buffer = own_buffer(array, stored);
    } else if (array.op == Op::Array) {
        const bool shared = array.as<ArrayAttr>().shared;
        buffer = b_.own_memory(shared ? MemorySpace::Shared : MemorySpace::Private, stored,
                               element_count(shape_of(array)));
    } else {
        const int target = request_.targets[static_cast<size_t>(arrays_.carried.at(&array))];
        buffer =
            b_.buffer(target, stored, element_count(array.shape), BindingForm::Storage, 1, true);
    }
    return memory_[&array] = buffer;
}

/// Loads an element with a known place in an aligned block of four through the block, as a mapping
/// with copies does; scalarise_underused_vectors() undoes it if no other element of the block is
/// read.
NodeId HandWalk::load_element(const Node& node, NodeId index) {
    if (!b_.code().in_order) return Walk::load_element(node, index);
    const int64_t rest = b_.place_in_block(node.dtype, index);
    if (rest < 0) return Walk::load_element(node, index);
    const NodeId block =
        b_.load(source(node, kBlockWidth), b_.sub(index, b_.integer(rest)), kBlockWidth);
    return b_.lane(block, static_cast<int>(rest), index);
}

int HandWalk::own_buffer(const Node& array, DType stored) {
    KernelBuffer rows;
    rows.buffer = request_.next_buffer + static_cast<int>(own_buffers_.size());
    rows.dtype = stored;
    rows.elements = own_.rows() * element_count(shape_of(array));
    own_buffers_.push_back(rows);
    return b_.buffer(rows.buffer, stored, rows.elements, BindingForm::Storage, 1, true);
}

NodeId HandWalk::place_in_row(const Node& array, NodeId index) {
    const NodeId begin = begin_of_row(b_, own_, row_, element_count(shape_of(array)).constant());
    return b_.add(begin, b_.mul(index, b_.integer(own_.lanes)));
}

HandWalk::Place HandWalk::place_of(const Node& array, std::span<const Ref> indices,
                                   const std::vector<Bounds>* modes, const Node& user) {
    const Shape shape = shape_of(array);
    const size_t skip = array.shape.size() - shape.size();
    NodeId inside = b_.boolean_value(true);
    Indices at;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const Node& index = *indices[axis + skip];
        const NodeId asked = ask(index, own_at(index.shape));
        b_.set_lines(user.lines);
        const Read read =
            bounded(b_, asked, shape[axis], modes ? (*modes)[axis + skip] : Bounds::Constant);
        inside = b_.make(KernelOp::And, boolean, {inside, read.inside});
        at.push_back(read.index);
    }
    // A store's condition stands in its first index, which may be one of those that are
    // skipped.
    if (!modes && skip)
        inside = b_.make(KernelOp::And, boolean, {inside, mask_of(*indices[0], user)});
    const NodeId index = flat_index(b_, at, shape);
    return {in_memory(array) ? place_in_row(array, index) : index, inside};
}

/// Returns whether the index may have been chosen by a condition: the index is then computed from a
/// bool, in any form into which rules rewrite the select. Read, counted and carried values are
/// plain numbers.
bool HandWalk::may_be_masked(const Node& index) {
    constexpr size_t kMost = 200;  // nodes of an index that are looked at
    std::vector<const Node*> open{&index};
    std::unordered_set<const Node*> seen;
    while (!open.empty()) {
        const Node& node = *open.back();
        open.pop_back();
        if (!seen.insert(&node).second) continue;
        const bool of_branch = node.op == Op::Result && node.inputs[0]->op == Op::If;
        if (node.dtype.is_bool() || of_branch || seen.size() > kMost) return true;
        if (!is_elementwise(node.op) && !is_movement(node.op)) continue;
        for (const Ref& input : node.inputs) open.push_back(input.get());
    }
    return false;
}

NodeId HandWalk::mask_of(const Node& index, const Node& user) {
    if (!may_be_masked(index)) return b_.boolean_value(true);
    const NodeId asked = ask(index, own_at(index.shape));
    b_.set_lines(user.lines);
    return b_.make(KernelOp::LessEqual, boolean, {b_.integer(0), asked});
}

/// The part of the iterations that the device allows an invocation, which may clear a row.
constexpr int64_t kClearingPart = 8;

/// Clears the row, as Array does for arrays that are no buffer of the program. Where the device
/// bounds iterations, one clears several elements of a long row; the last one may clear its last
/// element repeatedly.
void HandWalk::clear_row(const Node& array) {
    const int64_t elements = element_count(shape_of(array)).constant(),
                  most = ceil_div(int64_t{profile_.max_back_edges}, kClearingPart).constant(),
                  at_once = most > 0 ? ceil_div(elements, most).constant() : 1,
                  trips = ceil_div(elements, at_once).constant();
    Range range;
    range.name = "k";
    range.kind = RangeKind::Serial;
    range.extent = Size(trips);
    range.extent_node = b_.integer(trips);
    range.max_trips = trips;
    const RangeId id = b_.add_range(std::move(range));
    const RegionId region = b_.add_region();
    const NodeId zero = b_.constant(scalar_int(0).to(array.dtype));
    const NodeId first = b_.mul(b_.range(id), b_.integer(at_once));
    std::vector<NodeId> stores;
    for (int64_t k = 0; k < at_once; ++k) {
        NodeId at = b_.add(first, b_.integer(k));
        if (trips * at_once > elements)
            at = b_.make(KernelOp::Min, i32, {at, b_.integer(elements - 1)});
        stores.push_back(b_.store(memory_of(array), place_in_row(array, at), std::span(&zero, 1)));
    }
    b_.code()[region].range = id;
    b_.code()[region].effects = std::move(stores);
    effect(b_.close_for(region, {}));
}

void HandWalk::start_array(const Node& node) {
    if (in_memory(node)) return clear_row(node);
    effect(b_.pinned(KernelOp::Array, node.dtype, {}, memory_of(node)));
}

void HandWalk::read(const Node& node) {
    const auto& gather = node.as<GatherAttr>();
    const Node& array = *arrays_.root.at(node.inputs[0].get());
    const Place place = place_of(array, std::span(node.inputs).subspan(1), &gather.modes, node);
    b_.set_lines(node.lines);
    const bool pinned = b_.code().in_order;
    const NodeId value =
        pinned ? b_.pinned(KernelOp::Load, node.dtype, {place.index}, memory_of(array))
               : b_.load(memory_of(array), place.index);
    if (pinned) effect(value);
    give(node, b_.select(place.inside, value, b_.constant(gather.fill.to(node.dtype))));
}

void HandWalk::store(const Node& node) {
    const Node& array = *arrays_.root.at(node.inputs[0].get());
    const auto& attr = node.as<ScatterAttr>();
    const ScatterOp op = attr.op;
    const Place place = place_of(array, std::span(node.inputs).subspan(2), nullptr, node);
    // A permutation has no place outside: where the promise is broken, one inside is taken. The
    // store's condition stands in its first index, in any form that the rules have left.
    const bool promised = attr.complete && !attr_.rounded;
    const NodeId inside = promised ? mask_of(*node.inputs[2], node) : place.inside;
    const NodeId value = ask(*node.inputs[1], own_at(node.inputs[1]->shape));
    b_.set_lines(node.lines);
    const auto asked = fetched_.find(&node);
    const bool exchanges = op != ScatterOp::Last || asked != fetched_.end();
    const bool wide = node.dtype.bytes() == 8 && context_.wide_atomics;
    if (exchanges && node.dtype.bytes() != 4 && !node.dtype.is_bool() && !wide)
        refuse_by_hand(node, std::string("atomics on ") + node.dtype.name() +
                                 " are not available on this device; use i32, u32 or f32");
    const NodeId made = exchanges ? b_.atomic(memory_of(array), op, place.index, value)
                                  : b_.store(memory_of(array), place.index, std::span(&value, 1));
    NodeId old = made;
    if (b_.is_constant(inside) && b_.node(inside).as<Scalar>().i) {
        effect(made);
    } else {
        const RegionId taken = b_.add_region(),
                       otherwise = asked == fetched_.end() ? RegionId() : b_.add_region();
        b_.code()[taken].effects = {made};
        if (otherwise) {
            b_.code()[taken].yields = {made};
            b_.code()[otherwise].yields = {b_.constant(scalar_int(0).to(node.dtype))};
        }
        const NodeId branch = b_.branch(inside, taken, otherwise, true);
        effect(branch);
        if (otherwise) old = b_.result(branch, 0);
    }
    if (asked != fetched_.end()) give(*asked->second, old);
}

void HandWalk::exchange(const Node& node) {
    const auto& attr = node.as<SubgroupAttr>();
    std::vector<NodeId> args;
    for (size_t k = 1; k < node.inputs.size(); ++k)
        args.push_back(ask(*node.inputs[k], own_at(node.inputs[k]->shape)));
    b_.set_lines(node.lines);
    const KernelOp op = attr.op == SubgroupOp::Reduce ? KernelOp::SubgroupReduce
                        : attr.op == SubgroupOp::Scan ? KernelOp::SubgroupScan
                                                      : KernelOp::SubgroupRead;
    const NodeId value = b_.pinned(op, node.dtype, args, -1, attr.combine);
    effect(value);
    give(node, value);
}

}  // namespace firn
