// The Graph: hash-consed, immutable SSA nodes over whole tensors, with regions for loops and
// branches.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "compiler/ir/op.h"
#include "compiler/ir/source_line.h"
#include "compiler/program/dtype.h"
#include "compiler/program/executor.h"
#include "compiler/program/host_operation.h"
#include "compiler/program/size.h"

namespace firn {

class OneThread;
struct History;  // frontend/history.h
struct Node;
using Ref = std::shared_ptr<const Node>;

/// Reading outside an axis. Mirror is numpy's "symmetric": -1 reads 0, n reads n-1. Reflect is
/// numpy's "reflect": -1 reads 1, n reads n-2, and of one element everything reads that.
enum class Bounds : uint8_t { Clamp, Wrap, Mirror, Reflect, Constant, Unchecked };

/// Argmin and Argmax give the position of the extreme along one axis: the first where several are
/// equal, the first nan where there is one; 0 of no elements.
enum class ReduceOp : uint8_t { Sum, Prod, Min, Max, Any, All, Argmin, Argmax };
/// The way a Scatter writes: Last replaces (if indices collide, the last in row-major order wins);
/// the others combine with the old value.
enum class ScatterOp : uint8_t { Last, Add, Mul, Min, Max, And, Or, Xor };

/// A body with arguments; `results` may use the arguments and any node of the enclosing regions.
struct Region {
    std::vector<Ref> args;
    std::vector<Ref> results;
};
/// Limit of nested regions in a recorded or parsed graph: the functions that walk them are
/// recursive.
constexpr int kMostNested = 200;

/// `parameter`, where it is not 0: an id of a number that differs from one recording to the next; a
/// plan of lazy evaluation takes it as an argument.
struct ConstantAttr {
    Scalar value;
    uint64_t parameter = 0;
};
struct SizeAttr {
    Size size;
};
struct InputAttr {
    int index = 0;
    bool scalar = false;
};
/// Contents of a realised tensor. Identity: two Buffers are equal when `storage` is the same
/// pointer and `value` the same number. `value`, where it is not 0: an id of a value that shares
/// its memory with another one that it was computed from, and has derivatives of its own.
struct BufferAttr {
    std::shared_ptr<Memory> storage;
    uint64_t value = 0;
};
struct RegionArgAttr {
    uint64_t id = 0;
};
struct IndexAttr {
    int axis = 0;
};
struct PermuteAttr {
    std::vector<int> axes;
};
struct SliceAttr {
    std::vector<Size> begin;
    std::vector<int64_t> step;
};  // step may be negative
struct PadAttr {
    std::vector<Size> before, after;
    Scalar value;
};
/// A mode for each source axis; `fill` is the value outside of Constant axes. `own`: in a kernel by
/// hand, a promise that no other invocation has stored to the element since the last barrier.
struct GatherAttr {
    std::vector<Bounds> modes;
    Scalar fill;
    bool own = false;
};
/// Stores outside are dropped. `unique`: the caller promises that no two indices are equal;
/// `complete`: and that every element of the target has one, so that no old element remains.
/// `by_hand`: in a kernel by hand; if indices collide, the device decides which one wins. `part`:
/// one of several with the same positions, each with the one before as its target, that store
/// inside of it and fill it together: one kernel does them all (store_parts, join_stores).
/// `finds_last`: marks a Max of positions, made by settle_stores to find which store of the user's
/// is the last at each element; it only changes how the store is described. `apart`: the store has
/// steps of its own although it could be part of the kernel that makes its target: its values wait
/// for a call of the host, and the target need not.
struct ScatterAttr {
    ScatterOp op = ScatterOp::Last;
    bool unique = false, complete = false, by_hand = false, part = false, finds_last = false;
    bool apart = false;
};
struct ReduceAttr {
    ReduceOp op = ReduceOp::Sum;
    std::vector<int> axes;
};  // axes sorted
/// The end of a loop whose active value is still true somewhere after the last iteration, although
/// its bounds only prevent an endless run. Throws: a UserError. Stored: the kernel by hand that it
/// was recorded in stores that it went on, and a read of the kernel's results throws.
enum class MustEnd : uint8_t { No, Throws, Stored };
/// Region arguments: the induction value (i32), then the carried values. Results: the next carried
/// values. `active`: the carried value (bool) that is true while an element runs, -1 if there is no
/// break: the loop ends when no element of it is true. For elements where it is false the body
/// returns the carried values unchanged (except for stores by position, which leave out positions
/// by their index): a loop inside a kernel ends for each element by itself. `host`: the scheduler
/// wants it as a loop of kernels, even if the body would allow one kernel. `open`: iterations after
/// the one that makes the active value (one element) false change nothing, so that it need not be
/// read after every iteration. `must_end`: see MustEnd. `sizes`: data symbols that begin anew in
/// every iteration, and that nothing outside of the body mentions: the value that the body gives
/// for carried value k < sizes.size() (i32, rank 0) is that of sizes[k] in this iteration. Each
/// depends only on those before it. A loop that has some is one of kernels. `checkpoint`, unless 0:
/// a gradient keeps the carried values of every so many iterations (1: of all), and recomputes
/// those between. `group`, unless empty: the loop is a kernel by hand. It takes one iteration,
/// which is one dispatch of invocations for every index of `grid`, in groups of `group` (both by
/// axis); it carries the tensors that it stores to. `rounded`: the user chose the group, and `grid`
/// is rounded up to whole groups, so that stores of the last ones outside are dropped; else
/// lowering may choose.
struct LoopAttr {
    std::shared_ptr<const Region> body;
    int active = -1;
    bool host = false, open = false;
    MustEnd must_end = MustEnd::No;
    std::vector<Size> sizes = {};
    int64_t checkpoint = 0;
    Shape grid = {};
    std::vector<uint32_t> group = {};
    bool rounded = false;
    bool by_hand() const { return !group.empty(); }
};
/// Both regions take no arguments and have results of equal dtypes; result k has the broadcast
/// shape of the condition and both results k.
struct IfAttr {
    std::shared_ptr<const Region> then_body, else_body;
};
struct ResultAttr {
    int index = 0;
};
/// Shape: the groups' axes (shared) or the grid's (one per invocation), then the array's own.
struct ArrayAttr {
    uint64_t id = 0;
    bool shared = false;
};
struct BarrierAttr {
    uint64_t id = 0;
};
enum class SubgroupOp : uint8_t { Reduce, Scan, Shuffle };
/// Lanes are neighbours in the row-major order of a group.
struct SubgroupAttr {
    SubgroupOp op = SubgroupOp::Reduce;
    ReduceOp combine = ReduceOp::Sum;
    int lanes = 1;
    std::vector<uint32_t> group = {};
};

/// A reverse rule of the user's own: from the value, its cotangent and the inputs behind the value
/// the cotangent of each of these, null where it is 0.
using ReverseRule =
    std::function<std::vector<Ref>(const Ref& value, const Ref& g, const std::vector<Ref>& inputs)>;
/// A forward rule: from the value, the inputs behind it and their tangents (null where they do not
/// change) the value's tangent.
using ForwardRule = std::function<Ref(const Ref& value, const std::vector<Ref>& tangents,
                                      const std::vector<Ref>& inputs)>;
struct RuledAttr {
    std::shared_ptr<const ReverseRule> rule;
    std::shared_ptr<const ForwardRule> forward;  // null: derived from the reverse rule
};

/// What the host does with the input: see HostOperation.
struct HostCallAttr {
    std::shared_ptr<const HostOperation> operation;
};

using Attr = std::variant<std::monostate, ConstantAttr, SizeAttr, InputAttr, BufferAttr,
                          RegionArgAttr, IndexAttr, PermuteAttr, SliceAttr, PadAttr, GatherAttr,
                          ScatterAttr, ReduceAttr, LoopAttr, IfAttr, ResultAttr, ArrayAttr,
                          BarrierAttr, SubgroupAttr, RuledAttr, HostCallAttr>;

/// One operation on whole tensors. Elementwise inputs have exactly the node's shape and, where the
/// table says Same, its dtype: builders insert Expand and Cast.
struct Node {
    Op op;
    DType dtype;
    Shape shape;
    std::vector<Ref> inputs;
    Attr attr;
    /// Unless 0, the id of a value that a user has recorded. Equal values with other ids are other
    /// nodes, because each has its own derivatives; merge_equal makes them one.
    uint64_t own = 0;
    uint64_t hash = 0;
    uint64_t serial = 0;  // order of creation; not part of identity
    /// Ids of the region arguments that it needs and does not bind itself, sorted; null: none.
    std::shared_ptr<const std::vector<uint64_t>> free_args;
    mutable std::vector<SourceLine> lines;  // at most 4; not part of identity

    // The session's records of the node; not part of identity either.
    mutable std::atomic<int32_t> handles{0};  // tensors whose value it is
    mutable Ref computed;                     // the Buffer that it was computed to; null: none
    mutable bool is_source = false;           // of some history, or was one

    // Set for a Buffer: the number of live nodes that were computed to it; Node::serial of the
    // oldest that there ever was; the history that it was computed from.
    mutable int32_t forms = 0;
    mutable uint64_t oldest_form = UINT64_MAX;
    mutable History* history = nullptr;

    template <class T>
    const T& as() const {
        return std::get<T>(attr);
    }
    int rank() const { return static_cast<int>(shape.size()); }
    Node() = default;
    Node(const Node&) = delete;
    ~Node();
};

/// Results as functions of arguments. args[k] is the Input node with index k. `guards` are checked
/// at the call: sizes that were not proved equal while recording. `data_sizes` are the data symbols
/// that the nodes mention (but for those of one iteration, see LoopAttr): result k (i32, rank 0) is
/// the value of data_sizes[k], and depends only on those before it.
struct Graph {
    std::vector<Ref> args;
    std::vector<Ref> results;
    std::vector<Guard> guards;
    std::vector<Size> data_sizes;
};

/// Holds every live node once. Weak: a node lives as long as a reference to it exists, also longer
/// than its table; long chains are released without recursion. A table and its nodes belong to one
/// thread at a time; nodes may be released on any.
class NodeTable {
  public:
    /// Only tests give a mask: fewer bits force collisions.
    explicit NodeTable(uint64_t hash_mask = ~uint64_t{0});
    ~NodeTable();
    /// The one node with this structure; checks nothing (see builder.h for checked construction).
    /// Loops, Ifs and RegionArgs are never merged; a RegionArg gets a fresh id.
    Ref intern(Op op, DType dtype, Shape shape, std::vector<Ref> inputs, Attr attr = {},
               SourceLine line = {});
    /// The same node with this Node::own, or with a fresh one where that is 0. Loops, Ifs and
    /// RegionArgs, which are never merged, stay as they are.
    Ref as_own(Ref node, uint64_t own = 0);
    size_t live_nodes() const;
    /// The thread that uses the table now; making a node enters it.
    OneThread& thread() const;

  private:
    struct State;
    Ref intern(std::unique_ptr<Node> node, SourceLine line);
    std::shared_ptr<State> state_;
};

/// Notes that the node has been computed to the Buffer; null: to none.
void set_computed(const Node& node, const Ref& buffer);

/// Adds the user's lines that `node` now also stands for: at most 4, no repeats.
void note_lines(const Node& node, const std::vector<SourceLine>& lines);

/// Every size that a node itself holds: its shape and those of its attribute.
void for_sizes(const Node& node, const std::function<void(const Size&)>& visit);

/// True when the regions' structure is equal (used by NodeTable and by tests); nodes by pointer.
bool equal_attr(const Attr& a, const Attr& b);

/// Every node that `results` need, inputs before users, region bodies included (a body's nodes come
/// before the node that owns the region). Deterministic.
std::vector<Ref> topological(const std::vector<Ref>& results);
/// Returns the same without the nodes that leaves need.
std::vector<Ref> topological(const std::vector<Ref>& results,
                             const std::function<bool(const Node&)>& is_leaf);

/// Rebuilds `results` bottom-up. `visit(node, new_inputs)` returns the replacement of a node whose
/// inputs were already rebuilt, or null to rebuild it unchanged with shapes inferred again. A Loop
/// or If comes to `visit` already rebuilt: its regions are final. If anything inside a Loop changed
/// its arguments are fresh, so that old and new may live in one graph (the replacements, if
/// `replace` or `visit` replaces all of them); if nothing changed the node itself stays. `replace`
/// seeds the memo: those nodes are replaced as given (region arguments, inputs).
/// `visit_region(node, rebuilt)`, if given, is called for Loops and Ifs instead of `visit`; it sees
/// the original node too. Loops for which `is_idle`, if given, is true are skipped: their results
/// are their initial values.
using Visit = std::function<Ref(const Node& node, const std::vector<Ref>& inputs)>;
using VisitRegion = std::function<Ref(const Node& node, const Ref& rebuilt)>;
using IsIdle = std::function<bool(const Node& node)>;
std::vector<Ref> rewrite(NodeTable& table, const std::vector<Ref>& results, const Visit& visit,
                         const std::unordered_map<const Node*, Ref>& replace = {},
                         const VisitRegion& visit_region = {}, const IsIdle& is_idle = {});
/// `results` with nodes replaced, and without any Node::own: of equal values one is left.
std::vector<Ref> merge_equal(NodeTable& table, const std::vector<Ref>& results,
                             const std::unordered_map<const Node*, Ref>& replace = {});
/// A region with arguments of its own that computes the same.
Region with_fresh_args(NodeTable& table, const Region& region);
/// Returns `results` with nodes replaced, and nothing else changed. If only region arguments are
/// replaced, nodes that do not depend on them are not visited.
std::vector<Ref> substitute(NodeTable& table, const std::vector<Ref>& results,
                            const std::unordered_map<const Node*, Ref>& replace);

}  // namespace firn
