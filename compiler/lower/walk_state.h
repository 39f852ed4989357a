// The demand walk: the state that walk.cpp (values), walk_outputs.cpp, walk_reads.cpp,
// walk_reduce.cpp and walk_regions.cpp (loops and branches) share.
#pragma once
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/base/fresh_stack.h"
#include "compiler/kernel/kernel_builder.h"
#include "compiler/lower/walk.h"
#include "compiler/lower/walk_index.h"

namespace firn {

using Indices = std::vector<NodeId>;

struct KeyHash {
    size_t operator()(const std::pair<const Node*, Indices>& key) const {
        size_t h = std::hash<const Node*>()(key.first);
        for (NodeId i : key.second) h = (h ^ std::hash<NodeId>()(i)) * 0x9E3779B97F4A7C15ull;
        return h ^ (h >> 31);
    }
};

/// Evaluates values at indices, and gives Kernel code nodes. Equal values at equal indices share
/// one node.
class Walk {
  public:
    Walk(const KernelRequest& request, const LowerContext& context, KernelCode& code);
    virtual ~Walk() = default;
    void run();

  protected:
    /// Each invocation stores a value at its own index.
    void store_own(size_t output, const WalkGrid& grid, std::vector<NodeId>& effects);
    /// The invocation of each position stores or combines at the position's own index.
    void write_position(size_t output, const Indices& at, std::vector<NodeId>& effects);
    /// Does the same for all outputs, in every iteration of the loop.
    void write_in_iterations(const Node& loop, const Indices& at);
    void store_position(const Node& scatter, int program_buffer, const Indices& at,
                        std::vector<NodeId>& effects);

    /// Every invocation walks the inner dimensions of its own row.
    void run_rows(const Indices& row);
    void walk_row(size_t output, Indices& at, std::vector<NodeId>& effects);
    NodeId evaluate_own(const Node& node, const Indices& at);

    /// Value of `node` at `at` as a Kernel code node.
    NodeId ask(const Node& node, const Indices& asked);

    /// Evaluates the elementwise operands of a node, innermost first and without recursion, so that
    /// long chains need no stack.
    void ask_operands(const Node& node, const Indices& at);

    /// The index along a dimension of 1 is 0: equal places have equal indices.
    Indices normal(const Shape& shape, Indices at);
    void remember(const std::pair<const Node*, Indices>& key, NodeId value);

    /// Forgets values computed since `mark` that depend on the index of a range that is closed now:
    /// the same body evaluated at another index gets a loop of its own, and so does a value of few
    /// axes that a loop carried beside one of more.
    void forget_iteration(size_t mark, RangeId range);
    virtual NodeId evaluate(const Node& node, const Indices& at);
    NodeId load(const Node& node, const Indices& at);
    /// The buffer of a tensor in memory, to be read by so many elements at once.
    int source(const Node& node, int width);
    /// The element of a tensor in memory at a flat index.
    virtual NodeId load_element(const Node& node, NodeId index);
    NodeId pad(const Node& node, const Indices& at);
    NodeId gather(const Node& node, const Indices& at);

    bool never(NodeId condition) const;

    /// Result index o was written by position p with index_k(p) = o_k: solved for p, axis by axis.
    NodeId store_as_read(const Node& node, const Indices& at);
    /// Returns the value that a store of the element `at` leaves there, evaluated at the position
    /// `p`. A read of that element of its own target, at `stored`, may use `at` instead: if `p` was
    /// clamped, the value is not taken.
    NodeId stored_value(const Node& store, const Indices& p, const Indices& stored,
                        const Indices& at);
    /// Returns whether evaluating `root` needs few values, and no loop.
    bool is_small(const Node& root) const;
    NodeId reduce(const Node& node, const Indices& at);
    std::vector<NodeId> reduce_held_row(const Node& node, DType type);
    std::vector<NodeId> reduce_axis(const Node& node, Indices in, size_t depth,
                                    std::vector<NodeId> carried, DType type);
    std::vector<NodeId> reduce_element(const Node& node, const Indices& in,
                                       const std::vector<NodeId>& carried, DType type);
    NodeId place_of_nan(NodeId value, NodeId index, NodeId otherwise);

    /// A Loop whose For is being built.
    struct OpenLoop {
        std::vector<int> carried;  // carried values that run together
        std::vector<NodeId> inits;
        RegionId region;
        RangeId range;
        size_t mark = 0;  // the length of the log before
    };

    /// Returns a result of a loop; results at one index share one For: carried values that have the
    /// requested shape, as far as they can be evaluated there, and those they need.
    NodeId loop_result(const Node& node, const Indices& at);
    Indices carried_index(const Node& loop, int k, const Shape& shape, const Indices& at);
    OpenLoop open_loop(const Node& loop, const std::vector<int>& carried, const Shape& shape,
                       const Indices& at);
    NodeId close_loop(const Node& loop, const OpenLoop& open, const Shape& shape,
                      const Indices& at);

    /// Returns a value that an open loop carries, evaluated at the element's own index, without
    /// regard to clamps.
    NodeId carried_value(const Node& arg, const Indices& at);
    /// It has a value at `at`: an open loop carries it, and there.
    bool is_carried_at(const Node& arg, const Indices& at) const;

    /// Does `bounded` for an index at which `asked` is evaluated, and notes the index before it.
    Read inside_of(const Node& asked, NodeId i, const Size& n, Bounds mode);
    /// Returns whether a value can be computed where it is not needed: it has no loop that may take
    /// long there, and no read whose index is only promised to be inside.
    bool is_harmless(const Node& value);
    /// Returns an index of a load, on an axis of `n`: indices that are only used inside are each
    /// clamped into the memory that is read, so that loads of neighbours stay neighbours.
    NodeId unguarded(NodeId i, const Size& n);
    /// The index as it was before; `scaled`: also where it is multiplied then.
    NodeId without_guards(NodeId i, bool scaled);
    /// Returns whether `at` equals `own` wherever it lies inside of the shapes that it was clamped
    /// into.
    bool stands_for(const Indices& at, const Indices& own) const;
    /// Does the same for indices that are never used outside, each of which is a node of its own.
    bool is_guarded(const Indices& at, const Indices& own) const;

    /// Returns the condition that the loop takes an iteration: an element that broke off before
    /// does not go on.
    template <class Project>
    NodeId may_start(const Node& loop, Project project_to);

    /// Returns the carried values to run together when result `wanted` is evaluated at `at`: the
    /// active flag, those of the same shape that can be evaluated there, and those they depend on.
    std::vector<int> run_together(const Node& loop, int wanted, const Indices& at);
    /// Returns whether carried value `k` can be evaluated at `at`, used there or not: the values of
    /// outer loops that it needs stand at the index that they are carried at.
    bool comes_along(const Node& loop, int k, const Indices& at);

    /// Returns the carried values that carried value `k` of a loop depends on.
    const std::vector<int>& needed_members(const Node& loop, int k);

    /// Returns `needed`, the active flag, and the carried values they depend on.
    std::vector<int> members_of(const Node& loop, std::set<int> needed);

    /// The carried values of the loop that `value` depends on.
    void add_needed(const Node& loop, const Node& value, std::set<int>& needed);

    /// Returns every node that is evaluated on the way to `root`; in an inner loop, only those that
    /// the needed carried value depends on.
    std::unordered_set<const Node*> needed_by(const Node& root);
    NodeId branch_result(const Node& node, const Indices& at);

    const KernelRequest& request_;
    const LowerContext& context_;
    KernelBuilder b_;
    std::unordered_map<std::pair<const Node*, Indices>, NodeId, KeyHash> memo_;
    std::unordered_map<const Node*, Indices>
        carried_at_;  // the index of the first evaluation of a carried value
    std::multimap<NodeId, NodeId> unbounded_;  // an index before it was clamped
    std::map<NodeId, NodeId> guards_;          // of those, indices that are only used inside
    std::unordered_map<const Node*, bool> harmless_;
    /// A store whose value is being evaluated.
    struct OpenStore {
        const Node* target;
        Indices stored, at;
    };
    std::vector<OpenStore> open_stores_;
    /// Values computed with such an element read at `at`: valid only as long as the store is open.
    std::unordered_set<std::pair<const Node*, Indices>, KeyHash> borrowed_;
    int64_t borrows_ = 0;  // reads of one, or of a value computed with it
    std::vector<std::pair<const Node*, Indices>> log_;  // keys in the order they were remembered
    int open_loops_ = 0;
    std::map<std::pair<const Node*, int>, std::vector<int>> members_;
    Recursion nested_;    // questions that wait for the one that is answered now
    int64_t copies_ = 1;  // of the current value, in short unrolled reductions
    std::unordered_map<const Node*, Indices> own_;
    Indices row_;  // the kernel's own indices, where it has row_reductions
    std::map<std::tuple<const Node*, int, Indices>, NodeId> loop_results_;
    /// The extremes beside the positions that were looked for, by the reduced value and its index,
    /// which has no node along the reduced axis.
    std::map<std::tuple<const Node*, ReduceOp, Indices>, NodeId> extremes_;
};

}  // namespace firn
