// Kernel code: one compute kernel as pure scalar nodes, regions for loops and branches, and ordered
// effects.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/kernel/ids.h"
#include "compiler/kernel/kernel_op.h"
#include "compiler/program/interval.h"
#include "compiler/program/program.h"

namespace firn {

/// The level that runs the values of a range.
enum class RangeKind : uint8_t {
    Grid,        // not mapped yet: every value is an invocation of its own
    Group,       // the group's place among the groups that are launched
    Invocation,  // the invocation's place in its group
    Serial,      // a loop inside the invocation (a For)
    Subgroup,    // the lane in its subgroup, the subgroup in its group
};
const char* name(RangeKind kind);

/// An index that runs from 0 to extent - 1.
struct Range {
    std::string name;  // letters
    RangeKind kind = RangeKind::Grid;
    Size extent;         // symbolic; unused for a Serial range whose extent is a value
    NodeId extent_node;  // Serial: the i32 node with the trip count (never negative)
    int dim =
        0;  // Group, Invocation: 0 x, 1 y, 2 z. Subgroup: 0 the lane, 1 its place in the group
    int64_t max_trips = -1;  // Serial: an upper bound of its trip count, -1: depends on data
    bool rest = false;  // Serial: it runs over another loop's remainder; if that is empty, values
                        // of its body have no meaning
    bool written_out = false;  // Serial: by the target's compiler, iteration by iteration
};

/// A matrix whose elements the lanes of a subgroup hold together; no rows: a value of one lane.
struct MatrixShape {
    int rows = 0, columns = 0;
    explicit operator bool() const { return rows > 0; }
    friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

/// Param: of KernelCode::params.
struct ParamAttr {
    int param = -1;
    friend bool operator==(const ParamAttr&, const ParamAttr&) = default;
};
/// RegionArg: a carried value of the loop whose body `region` is.
struct CarriedAttr {
    RegionId region;
    int position = -1;  // among the arguments of the region
    friend bool operator==(const CarriedAttr&, const CarriedAttr&) = default;
};
/// Result: among the results of args[0].
struct PositionAttr {
    int position = -1;
    friend bool operator==(const PositionAttr&, const PositionAttr&) = default;
};
/// Elements of a block: neighbours, the first at a multiple of it, that are loaded or stored by one
/// access. No access of kernel code is wider; each target says by what it makes it.
inline constexpr int kBlockWidth = 4;

/// Operations for which names_buffer() is true.
struct AccessAttr {
    int buffer = -1;                     // of KernelCode::buffers
    int width = 1;                       // Load, Store: 1, or a block from the flat index on
    ScatterOp combine = ScatterOp::Add;  // Atomic
    bool column_major = false;  // MatrixLoad, MatrixStore: the elements of a column are neighbours,
                                // not those of a row
    friend bool operator==(const AccessAttr&, const AccessAttr&) = default;
};
/// Lane: of the vector. SubgroupShuffle: of the subgroup.
struct LaneAttr {
    int lane = -1;
    friend bool operator==(const LaneAttr&, const LaneAttr&) = default;
};
/// For: its body. Branch: the region that is taken when args[0] is true, and the other, or none.
struct BodyAttr {
    RegionId region, else_region;
    friend bool operator==(const BodyAttr&, const BodyAttr&) = default;
};
/// Constant: Scalar. Range: RangeId. RowReduce, SubgroupReduce, SubgroupScan: ReduceOp.
using KernelAttr = std::variant<std::monostate, Scalar, RangeId, ParamAttr, CarriedAttr,
                                PositionAttr, AccessAttr, LaneAttr, BodyAttr, ReduceOp>;

/// A scalar (or vector) value, a region node or an effect. Pure nodes are hash-consed and may be
/// evaluated anywhere their operands are known; effects run in the order of KernelRegion::effects.
struct KernelNode {
    KernelOp op = KernelOp::Constant;
    DType dtype = f32;
    std::vector<NodeId> args;  // all before the node itself
    KernelAttr attr;           // of the kind that the operation has
    bool pinned = false;  // stands in its region's effects, also if it has a value: it is evaluated
                          // there, once
    bool guard = false;   // Branch: keeps a store or an invocation inside its range (counted). Min,
                          // Max: keeps an index inside, and values at another index are not used
    MatrixShape matrix;   // of the value; MatrixStore: of the stored value
    Interval interval = kAnyI32;  // i32 nodes, as the next
    Congruence congruence;
    std::vector<SourceLine> lines;

    /// The attribute, which must be of this kind.
    template <class T>
    const T& as() const {
        return std::get<T>(attr);
    }
    template <class T>
    T& as() {
        return std::get<T>(attr);
    }
    /// Returns the attribute; null if it is of another kind.
    template <class T>
    const T* get_if() const {
        return std::get_if<T>(&attr);
    }
    template <class T>
    T* get_if() {
        return std::get_if<T>(&attr);
    }
};

/// The regions that a node runs.
struct Bodies {
    std::array<RegionId, 2> regions;
    size_t count = 0;
    const RegionId* begin() const { return regions.data(); }
    const RegionId* end() const { return regions.data() + count; }
};
/// Returns the body of a For and the sides that a Branch has; of other nodes nothing.
inline Bodies bodies(const KernelNode& n) {
    Bodies out;
    if (const auto* own = n.get_if<BodyAttr>())
        for (RegionId region : {own->region, own->else_region})
            if (region) out.regions[out.count++] = region;
    return out;
}
/// Returns how many neighbouring elements a node loads or stores; 1 for other nodes.
inline int width(const KernelNode& n) {
    const auto* access = n.get_if<AccessAttr>();
    return access ? access->width : 1;
}

/// A body. For: args are the carried values (RegionArg nodes, one per node.args), yields their next
/// values, `range` its Serial range; `alive` (a bool node, or none) is evaluated at the end of each
/// iteration with the new values: the loop goes on while it is true. Branch: no args, yields its
/// values.
struct KernelRegion {
    RangeId range;
    std::vector<NodeId> args;
    std::vector<NodeId> effects;  // Store, Atomic, pinned nodes, and For / Branch nodes that
                                  // contain effects, in order
    std::vector<NodeId> yields;
    NodeId alive;
    /// Filled by place(): every node that this region evaluates itself, operands first. Leaves that
    /// are only text (Constant, Param, Range, RegionArg) are not in it.
    std::vector<NodeId> order;
};

/// The memory of a buffer: bound to the kernel, shared by a group, or private to an invocation.
enum class MemorySpace : uint8_t { Bound, Shared, Private };

struct KernelBuffer {
    int buffer = -1;  // Program buffer; -1 for the kernel's own memory
    DType dtype = f32;
    Size elements;
    BindingForm form = BindingForm::Storage;
    int width = 1;  // elements per access of this binding form
    bool written = false;
    MemorySpace space = MemorySpace::Bound;
    bool coherent = false;  // other invocations of the group load stored elements behind a Barrier
};

/// The integers that floats of f32 and f64 are kept as where a device combines no such floats.
DType bits_type(DType floats);
/// The elements are the bits of the floats that a kernel uses.
bool holds_bits(const KernelBuffer& buffer, DType used);

/// The region that every invocation runs.
inline constexpr RegionId kRoot(0);

/// regions[kRoot] is the root: no args; its effects are the kernel's stores. Bound buffers stand
/// before the kernel's own. Flat indices are in elements. Executing it: for every combination of
/// Grid (or Group and Invocation) range values, run the root.
struct KernelCode {
    std::string name;
    ByNode<KernelNode> nodes;
    ByRegion<KernelRegion> regions{KernelRegion{}};
    ByRange<Range> ranges;
    std::vector<KernelBuffer> buffers;
    std::vector<ParamInfo> params;
    /// The (read) buffer of i32 that holds the sizes which only the device knows; -1 if the kernel
    /// has none. Those parameters lie in it in their order, from the element that the last
    /// parameter names.
    int sizes_buffer = -1;
    bool on_device(const ParamInfo& param) const {
        return sizes_buffer >= 0 && param.scalar < 0 && !data_symbols(param.size).empty();
    }
    std::array<uint32_t, 3> group_size{1, 1, 1};  // after mapping
    std::array<Size, 3> groups{Size(1), Size(1), Size(1)};
    int guards = 0;
    int64_t back_edges = 0;  // bound per invocation, -1: only the data knows
    /// Effects and values follow one another as they were made (a kernel by hand): place() moves
    /// the effects into `order`. Otherwise a region computes all that it needs before its effects.
    bool in_order = false;
    /// Loads behind the grid's end are inside their buffers too: guards keep stores back, and loads
    /// need not wait for them.
    bool loads_first = false;

    KernelNode& operator[](NodeId id) { return nodes[id]; }
    const KernelNode& operator[](NodeId id) const { return nodes[id]; }
    KernelRegion& operator[](RegionId id) { return regions[id]; }
    const KernelRegion& operator[](RegionId id) const { return regions[id]; }
    Range& operator[](RangeId id) { return ranges[id]; }
    const Range& operator[](RangeId id) const { return ranges[id]; }
};

/// Returns an attribute, with no values yet, of the kind that the operation has.
KernelAttr empty_attr(KernelOp op);
/// Returns a Constant with its bounds.
KernelNode constant_node(const Scalar& value);
/// The parameters that the host gives.
std::vector<ParamInfo> host_params(const KernelCode& code);
/// It is reached by its address.
bool is_addressed(const KernelBuffer& buffer);
/// Returns the types of the values that the host gives: the parameters, then the addresses of
/// buffers.
std::vector<DType> param_types(const KernelCode& code);

/// The simple operations that a node is: of DeviceProfile::max_body_operations.
double operations_of(const KernelNode& n);
/// A Matrix operation: all lanes of a subgroup take part, with the same indices.
bool is_matrix(KernelOp op);
/// AccessAttr says which: Load, Store, Atomic, Array, MatrixLoad, MatrixStore.
bool names_buffer(KernelOp op);

/// Returns whether place() has filled the orders of its regions; a kernel that only stores leaves
/// has none.
bool is_placed(const KernelCode& code);

/// Prints the whole kernel: its facts, buffers, parameters and ranges, then the body, values before
/// their uses, effects behind `!`. `leaves` has the numbers of the nodes without a line (constants,
/// parameters, indices). Lines of the user's program are comments.
std::string print(const KernelCode& code);
/// The kernel of such a text: the same nodes with the same numbers. Without `leaves` they are
/// numbered anew, in order. UserError with line where it is none.
KernelCode parse_kernel(const std::string& text);

/// The stages of a kernel.
enum class KernelStage : uint8_t {
    Lowered,  // as the walk wrote it: ranges of the grid and of loops
    Ready,    // the same, placed: mappings are chosen for it
    Mapped,   // no ranges of the grid, no reductions over rows; so kernels by hand are written
    Placed,   // and every value stands in one order, where it dominates its uses
};
const char* name(KernelStage stage);
/// Throws InternalError at the first broken rule of this page, or of the stage.
void verify(const KernelCode& code, KernelStage stage, const std::string& after);

}  // namespace firn
