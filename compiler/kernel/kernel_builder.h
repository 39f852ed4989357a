// Builds Kernel code: hash-consed scalar nodes, folded and simplified with the bounds of every
// index.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/kernel/kernel_facts.h"

namespace firn {

/// Adds nodes to one KernelCode. Integer sums are kept as linear forms (sorted terms, the constant
/// last), so that equal addresses are equal nodes and neighbours differ by a constant. Intervals
/// with congruence, and symbolic bounds, are known for every i32 node and remove clamps,
/// comparisons and divisions.
class KernelBuilder {
  public:
    KernelBuilder(KernelCode& code, SymbolFacts facts);

    KernelCode& code() { return code_; }
    const KernelCode& code() const { return code_; }
    const SymbolFacts& symbol_facts() const { return symbol_facts_; }
    const KernelNode& node(NodeId id) const { return code_[id]; }
    void set_lines(const std::vector<SourceLine>& lines) { lines_ = lines; }

    NodeId constant(const Scalar& value);
    /// Returns the neutral element of addition, which changes no number of the type: -0 for floats.
    NodeId nothing_to_add(DType dtype);
    NodeId integer(int64_t value) { return constant(scalar_int(value)); }
    NodeId boolean_value(bool value) { return constant(scalar_bool(value)); }
    /// An i32 parameter, or a constant where the size is one. UserError where a constant does not
    /// fit; a parameter is checked when the call is planned.
    NodeId size(const Size& value);
    /// Returns whether so many can be counted with 32 bits, for all values of the symbols.
    bool countable(const Size& count) const;
    NodeId scalar_argument(int argument, DType dtype);
    /// A new range; range() gives its index node.
    RangeId add_range(Range range);
    NodeId range(RangeId id);
    /// Any elementwise operation; `dtype` is the result's (needed by casts).
    NodeId make(KernelOp op, DType dtype, std::vector<NodeId> args);
    NodeId add(NodeId a, NodeId b) { return make(KernelOp::Add, i32, {a, b}); }
    NodeId sub(NodeId a, NodeId b) { return make(KernelOp::Sub, i32, {a, b}); }
    NodeId mul(NodeId a, NodeId b) { return make(KernelOp::Mul, i32, {a, b}); }
    NodeId select(NodeId c, NodeId a, NodeId b) {
        return make(KernelOp::Select, node(a).dtype, {c, a, b});
    }
    NodeId load(int buffer, NodeId index, int width = 1);
    /// Returns the place of the element at a flat index in its aligned block of four; -1: unknown,
    /// or a load of such a block would serve only this element.
    int64_t place_in_block(DType dtype, NodeId index) const;
    /// Element `lane` of a vector load, which is the element at the flat `index`.
    NodeId lane(NodeId vector, int lane, NodeId index);

    /// Returns the `value` of lane `lane` of the subgroup: the element at the flat `index`.
    NodeId shuffle(NodeId value, int lane, NodeId index);

    /// Opens a body; its arguments are created by region_arg.
    RegionId add_region();
    NodeId region_arg(RegionId region, DType dtype, MatrixShape matrix = {});
    /// Closes a loop over `range` (Serial) whose region has args and yields set, and returns the
    /// For node.
    NodeId close_for(RegionId region, std::vector<NodeId> inits);
    NodeId branch(NodeId condition, RegionId then_region, RegionId else_region, bool guard);
    /// Marks the index `bound`, which Min or Max keeps inside, as one whose value outside is never
    /// used. Makes a node of its own, which becomes the other one when code is built anew.
    NodeId guarding(NodeId bound);
    NodeId result(NodeId region_node, int index);
    NodeId store(int buffer, NodeId index, std::span<const NodeId> values);
    /// `value` of all lanes of the subgroup combined; every lane has the result.
    NodeId subgroup_reduce(ReduceOp op, NodeId value) {
        return reduction(KernelOp::SubgroupReduce, op, value);
    }
    /// `value` at all indices of the last Grid range combined; before mapping.
    NodeId row_reduce(ReduceOp op, NodeId value) {
        return reduction(KernelOp::RowReduce, op, value);
    }
    NodeId atomic(int buffer, ScatterOp combine, NodeId index, NodeId value);
    /// Memory of the kernel's own; `width`: neighbours that are mostly accessed at once, 1 or 4.
    int own_memory(MemorySpace space, DType dtype, const Size& elements, int width = 1);
    /// A node that stands among its region's effects. Load: of memory that the kernel writes, as
    /// `dtype`; Array: makes the buffer zeros; Barrier; subgroup operations.
    NodeId pinned(KernelOp op, DType dtype, std::vector<NodeId> args, int buffer = -1,
                  ReduceOp reduce = ReduceOp::Sum);

    /// Makes a Matrix operation, whose value is a `matrix`.
    NodeId matrix(KernelOp op, DType dtype, MatrixShape matrix, std::vector<NodeId> args,
                  int buffer = -1, bool column_major = false);

    /// States that an i32 node lies in [lo, hi] wherever it is evaluated (a guard makes sure of
    /// it).
    void assume(NodeId id, const Size& lo, const Size& hi);
    /// Index of the kernel's buffer for a Program buffer in a form, added where it is new.
    int buffer(int program_buffer, DType dtype, const Size& elements, BindingForm form, int width,
               bool written);
    /// True when node a <= node b for all values.
    bool proved_less_equal(NodeId a, NodeId b) const;
    /// Serial regions and ranges that a node depends on.
    const std::vector<RangeId>& dependencies(NodeId id) const { return facts_[id].ranges; }
    bool is_constant(NodeId id) const { return node(id).op == KernelOp::Constant; }

  private:
    NodeId intern(KernelNode node);
    /// The operation itself, not folded.
    NodeId plain(KernelOp op, DType dtype, std::vector<NodeId> args);
    NodeId reduction(KernelOp op, ReduceOp by, NodeId value);
    NodeId make_integer(KernelOp op, const std::vector<NodeId>& args);
    NodeId from_linear(LinearForm linear);
    bool rejoin(LinearForm& linear);
    LinearForm linear_of(NodeId id) const;
    NodeId product(NodeId a, NodeId b);
    NodeId divide(NodeId a, NodeId b, bool remainder);
    NodeId divide_clamped(NodeId a, NodeId b);
    NodeId divide_steps(const LinearForm& linear, int64_t d, bool remainder);
    std::optional<bool> compare(KernelOp op, NodeId a, NodeId b) const;
    bool never_minus_zero(NodeId id, int steps) const;
    /// The node, or an older one that is its value but for the sign.
    NodeId of_either_sign(NodeId id, int steps);
    NodeId existing(const KernelNode& node) { return slots_[find_slot(node)].id; }
    NodeId fold_select(const std::vector<NodeId>& args);

    KernelCode& code_;
    SymbolFacts symbol_facts_;
    ByNode<NodeFacts> facts_;
    /// A hash table of the nodes with open addressing, at most half full.
    struct Slot {
        uint64_t hash = 0;
        NodeId id;
    };
    /// Returns the slot of an equal node, or the free slot for it.
    size_t find_slot(const KernelNode& node);
    std::vector<Slot> slots_;
    size_t taken_ = 0;
    std::vector<SourceLine> lines_;
};

}  // namespace firn
