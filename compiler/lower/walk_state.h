// The demand walk: what walk.cpp (values), walk_outputs.cpp, walk_reads.cpp, walk_reduce.cpp and
// walk_regions.cpp (loops and branches) share.
#pragma once
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/lower/walk.h"
#include "compiler/lower/walk_index.h"
#include "compiler/program/fresh_stack.h"

namespace firn {

using Indices = std::vector<int>;

struct KeyHash {
    size_t operator()(const std::pair<const Node*, Indices>& key) const {
        size_t h = std::hash<const Node*>()(key.first);
        for (int i : key.second) h = (h ^ static_cast<size_t>(i)) * 0x9E3779B97F4A7C15ull;
        return h ^ (h >> 31);
    }
};

/// Asks values at indices, and gives Kernel code nodes. Equal questions have one answer.
class Walk {
  public:
    Walk(const KernelRequest& request, const LowerContext& context, KernelCode& code);
    virtual ~Walk() = default;
    void run();

  protected:
    /// Each invocation stores a value at its own index.
    void store_own(size_t output, const Grid& grid, std::vector<int>& effects);
    /// The invocation of each position stores or combines at the position's own index.
    void write_position(size_t output, const Indices& at, std::vector<int>& effects);
    /// The same of all outputs, in every turn of the loop.
    void write_in_turns(const Node& loop, const Indices& at);
    void store_position(const Node& scatter, int program_buffer, const Indices& at,
                        std::vector<int>& effects);

    /// Every invocation walks the inner dimensions of its own row.
    void run_rows(const Indices& row);
    void walk_row(size_t output, Indices& at, std::vector<int>& effects);
    int evaluate_own(const Node& node, const Indices& at);

    /// Value of `node` at `at` as a Kernel code node.
    int ask(const Node& node, const Indices& asked);

    /// Asks what an elementwise node is made of, innermost first: a chain of any length takes no
    /// stack.
    void ask_operands(const Node& node, const Indices& at);

    /// The index along a dimension of 1 is 0: equal places have equal indices.
    Indices normal(const Shape& shape, Indices at);
    void remember(const std::pair<const Node*, Indices>& key, int value);

    /// Forgets what was computed since `mark` from the turn of a range that is closed now: the same
    /// body asked at another index gets a loop of its own, and so does a value of few axes that a
    /// loop carried beside one of more.
    void forget_turn(size_t mark, int range);
    virtual int evaluate(const Node& node, const Indices& at);
    int load(const Node& node, const Indices& at);
    /// The buffer of a tensor in memory, to be read by so many elements at once.
    int source(const Node& node, int width);
    /// The element of a tensor in memory at a flat index.
    virtual int load_element(const Node& node, int index);
    int pad(const Node& node, const Indices& at);
    int gather(const Node& node, const Indices& at);

    bool never(int condition) const;

    /// Result index o was written by position p with index_k(p) = o_k: solved for p, axis by axis.
    int store_as_read(const Node& node, const Indices& at);
    /// The value that a store of the element `at` leaves there, asked at the position `p`. Where it
    /// reads that element of its own target, at `stored`, `at` is as good: where `p` was kept
    /// inside, the value is not taken.
    int stored_value(const Node& store, const Indices& p, const Indices& stored, const Indices& at);
    /// Few values are asked on the way to `root`, and no loop.
    bool is_small(const Node& root) const;
    int reduce(const Node& node, const Indices& at);
    int reduce_axis(const Node& node, Indices in, size_t depth, int accumulator, DType type);

    /// A Loop whose For is being built.
    struct OpenLoop {
        std::vector<int> carried;  // carried values that run together
        std::vector<int> inits;
        int region = -1, range = -1;
        size_t mark = 0;  // what was remembered before
    };

    /// Results of a loop at one index share one For: carried values that have the asked shape, as
    /// far as they come along there, and those they need.
    int loop_result(const Node& node, const Indices& at);
    Indices carried_index(const Node& loop, int k, const Shape& shape, const Indices& at);
    OpenLoop open_loop(const Node& loop, const std::vector<int>& carried, const Shape& shape,
                       const Indices& at);
    int close_loop(const Node& loop, const OpenLoop& open, const Shape& shape, const Indices& at);

    /// What an open loop carries, asked at the element's own index up to what keeps an index inside
    /// of a shape.
    int carried_value(const Node& arg, const Indices& at);
    /// It has a value at `at`: an open loop carries it, and there.
    bool is_carried_at(const Node& arg, const Indices& at) const;

    /// `bounded` for an index at which `asked` is asked, with a note of what the index was.
    Read inside_of(const Node& asked, int i, const Size& n, Bounds mode);
    /// Whether it can be computed also where nobody asks for it: no loop that may take long there,
    /// and no read whose place is promised to be inside.
    bool is_harmless(const Node& value);
    /// An index of a load, of an axis of `n`: of those who ask inside alone each is kept inside the
    /// memory that is read, so that loads of neighbours stay neighbours.
    int unguarded(int i, const Size& n);
    /// The index as it was before; `scaled`: also where it is multiplied then.
    int without_guards(int i, bool scaled);
    /// Whether `at` is `own` wherever it lies inside of the shapes that it was kept inside of.
    bool stands_for(const Indices& at, const Indices& own) const;
    /// The same of indices that nobody asks for outside, each of which is a node of its own.
    bool is_guarded(const Indices& at, const Indices& own) const;

    /// Whether the loop takes any turn: an element that broke off before does not go on.
    template <class Project>
    int may_start(const Node& loop, Project project_to);

    /// The carried values to run together when result `wanted` is asked at `at`: the active
    /// flag, those of the same shape that come along, and what they depend on.
    std::vector<int> run_together(const Node& loop, int wanted, const Indices& at);
    /// Carried value `k` can be asked at `at`, whether anything asks for it there or not: what it
    /// needs of the values that loops around carry stands at the index that they are carried at.
    bool comes_along(const Node& loop, int k, const Indices& at);

    /// What carried value `k` of a loop cannot be computed without.
    const std::vector<int>& needed_members(const Node& loop, int k);

    /// `needed`, the active flag, and what they depend on.
    std::vector<int> members_of(const Node& loop, std::set<int> needed);

    /// The carried values of the loop that `value` depends on.
    void add_needed(const Node& loop, const Node& value, std::set<int>& needed);

    /// Every node whose value is asked on the way to `root`; of a loop inside, only what the
    /// carried value that is asked cannot do without.
    std::unordered_set<const Node*> needed_by(const Node& root);
    int branch_result(const Node& node, const Indices& at);

    const KernelRequest& request_;
    const LowerContext& context_;
    KernelBuilder b_;
    std::unordered_map<std::pair<const Node*, Indices>, int, KeyHash> memo_;
    std::unordered_map<const Node*, Indices>
        carried_at_;                     // where what a loop carries was asked first
    std::multimap<int, int> unbounded_;  // what an index was before it was kept inside
    std::map<int, int> guards_;          // of those, indices that are asked inside alone
    std::unordered_map<const Node*, bool> harmless_;
    /// A store whose value is being asked.
    struct OpenStore {
        const Node* target;
        Indices stored, at;
    };
    std::vector<OpenStore> open_stores_;
    /// What was computed with such an element read at `at`: known only as long as the store is
    /// open.
    std::unordered_set<std::pair<const Node*, Indices>, KeyHash> borrowed_;
    int64_t borrows_ = 0;  // how often one was read, or what was computed with it
    std::vector<std::pair<const Node*, Indices>> log_;  // keys in the order they were remembered
    int open_loops_ = 0;
    std::map<std::pair<const Node*, int>, std::vector<int>> members_;
    Recursion nested_;    // questions that wait for the one that is answered now
    int64_t copies_ = 1;  // of what is asked now, in short reductions written out
    std::unordered_map<const Node*, Indices> own_;
    Indices row_;  // the kernel's own indices, where it has row_reductions
    std::map<std::tuple<const Node*, int, Indices>, int> loop_results_;
};

}  // namespace firn
