// Recording: slots, scopes, and the state of a session; internal.
//
// A tensor handle owns a slot, born in the scope that was innermost then. Reading a slot from a
// deeper scope goes through every scope between: a loop gives a region argument, a branch the value
// outside. A write from a deeper scope stays in the innermost scope until that closes.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/recent.h"
#include "compiler/frontend/effect_record.h"
#include "compiler/frontend/session.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/one_thread.h"
#include "compiler/program/pass_info.h"
#include "compiler/target/emission.h"

namespace firn {

class Tensor;
enum class VecKind : uint8_t;

/// The node that is the value of a handle, which the node counts.
class HeldNode {
  public:
    HeldNode() = default;
    HeldNode(const HeldNode&) = delete;
    ~HeldNode() { *this = nullptr; }
    HeldNode& operator=(const HeldNode&) = delete;
    HeldNode& operator=(Ref node) {
        if (node) ++node->handles;
        if (node_) --node_->handles;
        node_ = std::move(node);
        return *this;
    }
    operator const Ref&() const { return node_; }
    const Ref& ref() const { return node_; }
    const Node* operator->() const { return node_.get(); }
    const Node& operator*() const { return *node_; }
    explicit operator bool() const { return node_ != nullptr; }

  private:
    Ref node_;
};

/// The storage of one tensor handle.
struct Slot {
    std::shared_ptr<SessionState> session;
    uint64_t id = 0;
    uint64_t scope = 0;     // the scope it was born in
    HeldNode node;          // its value there; null: none
    bool assigned = false;  // written again in the root scope, as the state of a frame loop is
    std::string lost;       // why a loop or branch left it without a value; empty: it did not
    SourceLine given_away;  // the line that gave it away by std::move
    bool array = false;     // whether it is memory that a kernel by hand has made
    std::optional<VecKind> kind;  // the vector it is a component of; none: no vector
    Tensor* handle = nullptr;     // the tensor; null: it is gone
};

/// A scope's record of a slot that was born outside it.
struct ScopeEntry {
    std::shared_ptr<Slot> slot;
    Ref initial;  // the value on entry; null: it had none
    Ref arg;      // in a loop: the region argument that stands for it
    Ref value;    // the value now
    bool written = false;
    bool assigned = false;  // whether a write was no store
    bool reshaped = false;  // whether a write's value does not broadcast: an element that has left
                            // the loop keeps the argument at its close
};

enum class ScopeKind : uint8_t { Root, Function, Loop, Branch, Kernel };

/// The parts of a kernel by hand.
struct ByHand {
    Shape grid;  // invocations, by axis; whole groups where the user gave a group
    std::vector<uint32_t> group;
    bool whole_groups = false;
    Ref iteration;  // the first argument of its body
    std::vector<std::weak_ptr<Slot>> shared;
    /// A while_ that must end, with the message if it does not: `went_on` is not 0 if some
    /// invocation went on.
    struct Endless {
        std::shared_ptr<Slot> went_on;
        std::string text;
        SourceLine line;
    };
    std::vector<Endless> endless;
};

/// A gradient in a loop that may turn out to be the outer one, see chosen_outside.
struct HeldGradient {
    std::shared_ptr<Slot> outside;  // the bool of chosen_outside
    std::vector<Ref> xs, between;   // arguments of the loop that values from outside replaced
    bool inside = false;            // whether there is an inner one
    SourceLine line;
};

struct Scope {
    uint64_t id = 0;
    ScopeKind kind = ScopeKind::Root;
    SourceLine line;
    int nested = 0;                                     // the depth of the scopes nested in it
    std::vector<ScopeEntry> entries;                    // ordered by first use
    std::unordered_map<const Slot*, size_t> positions;  // indices into entries
    Ref condition;                                      // Branch: chooses this side
    bool masks = false;                                 // Branch: see write_slot
    std::shared_ptr<Slot> active;     // Loop: false once break_ was met; see active_flag
    Ref runs;                         // Loop: the value of `active` if it is never lowered
    std::shared_ptr<Slot> iteration;  // Loop: false once continue_ was met in this iteration
    std::vector<std::pair<Ref, SourceLine>> asked;  // Loop: values whose shape was read
    std::vector<HeldGradient> held;                 // Loop
    Ref induction, begin, step;                     // Loop
    MustEnd must_end = MustEnd::No;                 // Loop; see LoopAttr
    int64_t checkpoint = 0;                         // Loop; see LoopAttr
    std::vector<Size> sizes;          // Loop: data symbols that begin in its iterations
    std::vector<Guard> guards;        // Function
    std::vector<Effect> effects;      // Function, and the root: handed over at its end
    std::shared_ptr<ByHand> by_hand;  // Kernel
    std::pair<const char*, SourceLine> together{
        nullptr, {}};  // Loop: an operation that all invocations of a group must reach
};

class BackgroundCompiler;  // background.h
struct DataSource;         // data_size.h
struct Histories;          // history.h
struct KnownForm;          // lazy_plans.h

/// Programs of lazy evaluation that a session keeps: more than a frame has, and with all that
/// belongs to them on the host and on the device some hundred MiB at most.
constexpr size_t kMostPlans = 256;

/// When a new program is made, programs that no call of the session has used for so many calls are
/// dropped: recurring ones stay, and a window that is being resized leaves no program of each size
/// behind.
constexpr int64_t kForgotten = 1024;

/// A program of lazy evaluation, and the session's call that used it last.
struct LazyPlan {
    std::shared_ptr<const Program> program;
    int64_t used = 0;
};

/// The numbers of lazy programs of one form: as they first were, which have been others since, and
/// how many programs there are.
struct ChangingNumbers {
    std::vector<double> first;
    std::vector<bool> changes;
    int programs = 0;
};

/// Used by one thread at a time, as Inside(session.nodes.thread(), line) checks.
struct SessionState {
    NodeTable nodes;
    std::shared_ptr<Executor> executor;
    bool started = false;                  // the executor has been used
    bool oracle = false;                   // evaluates graphs, compiles nothing
    Emission emission = Emission::Binary;  // Nothing where no executor reads it
    std::vector<Scope> scopes{Scope{}};    // the first is the root
    uint64_t last_id = 0;
    uint64_t next_stream = 0;  // the next stream of random numbers without a seed
    std::string left_open;     // message about a loop that was left by break
    SourceLine caller;         // set while a library function records, see LineScope
    std::map<uint64_t, std::weak_ptr<Slot>>
        assigned;                          // root slots with `assigned`, by id; some are gone
    size_t tidy_assigned = 64;             // those that are gone are dropped at this size
    std::shared_ptr<Histories> histories;  // the histories of computed values; null: none yet
    Recent<std::string, LazyPlan> plans{kMostPlans};                    // by graph text
    Recent<std::string, std::shared_ptr<KnownForm>> forms{kMostPlans};  // by graph text, no sizes
    int64_t calls = 0;                                          // how many programs were called
    Recent<std::string, ChangingNumbers> changing{kMostPlans};  // by graph text without numbers
    Callback<void(const std::string&)> print;  // where print_value writes; none: stdout
    std::optional<int64_t> while_limit;        // iterations of a while_ without max_steps
    std::optional<bool> checks;                // see checks_promises
    std::unordered_map<const Node*, std::weak_ptr<DataSource>> data_sources;  // by their counts
    std::map<std::string, std::string> tuned;    // winners of tuning, see CompileOptions
    std::optional<bool> finds_nan;               // see finds_nan
    std::optional<bool> specialises;             // see Session::specialise; none: not set yet
    std::optional<bool> compiles_in_background;  // none: where kernels run on a device
    /// Declared after the executor it compiles for, which outlives it.
    std::shared_ptr<BackgroundCompiler> background;
    SkippedPasses skipped;  // passes that are left out: FIRN_SKIP and FIRN_STOP_AFTER
    int debug = 0;          // FIRN_DEBUG
    size_t dumps = 0;       // programs written to FIRN_DUMP_DIR
};

/// The current session's state, made on first use.
const std::shared_ptr<SessionState>& current_state();

/// Returns the executor, chosen at the first use. UserError with the line in a child of fork() that
/// uses its parent's.
Executor& executor_of(SessionState& session, SourceLine line = {});

/// Returns a builder for the current scope. Throws the pending error of a loop that was left early.
Builder builder(SessionState& session, SourceLine line);

std::shared_ptr<Slot> make_slot(const std::shared_ptr<SessionState>& session, Ref node);
/// A slot of an enclosing scope, with the value that it has at that scope's start.
std::shared_ptr<Slot> make_slot_in(SessionState& session, Ref value, uint64_t scope);
/// The value of a slot in the innermost scope.
Ref read_slot(const std::shared_ptr<Slot>& slot, SourceLine line);
/// True for a tensor with a value in a session that is not the current one, if neither of the two
/// records: its value may be copied to another handle of that session.
bool is_elsewhere(const Slot& slot);
/// Returns false for a tensor that has not been assigned yet.
bool has_value(const std::shared_ptr<Slot>& slot);
/// Returns the result of a user's operation as a value of its own (Node::own): derivatives by it
/// are not derivatives by equal values. Only floats have derivatives; values of memory, an argument
/// or a loop are distinct already.
Ref own_value(SessionState& session, Ref node);
/// Returns a tensor with this very node as its value.
Tensor tensor_of(Ref node);
/// Assigns; returns false if the slot's scope has closed, so that the handle needs a new slot. In
/// masked lockstep: if a branch that `masks`, or a loop, between the slot's scope and here is not
/// active for an element, that element keeps its old value; so all later reads of the slot see one
/// meaning. A branch by one number, which does not mask, takes one of its sides.
bool write_slot(const std::shared_ptr<Slot>& slot, Ref node, SourceLine line);
/// Returns `value` converted for a component of a vector: to the vector's kind. UserError if the
/// conversion would lose information.
Ref component_of_kind(const Ref& value, VecKind kind);

/// Writes a version of the slot's tensor that differs only by stores at positions that store_mask
/// allows.
bool store_slot(const std::shared_ptr<Slot>& slot, Ref node, SourceLine line);
/// Returns the flag of the loop at `depth` that says whether an element still runs it (never true
/// for one that does not run the scopes around it), and that of its iteration; made on first use. A
/// flag that is never lowered costs nothing in the end.
std::shared_ptr<Slot> active_flag(SessionState& session, const Builder& b, size_t depth);
std::shared_ptr<Slot> iteration_flag(SessionState& session, const Builder& b, size_t depth);
/// Lowers a flag of the loop at `depth` for the elements that are active here.
void lower_flag(SessionState& session, const Builder& b, size_t depth,
                const std::shared_ptr<Slot>& flag);
/// The conditions under which a store to the slot takes place, position by position, joined by And;
/// null: always. UserError where their shapes do not broadcast.
Ref store_mask(const std::shared_ptr<Slot>& slot, SourceLine line);

/// The indices of a store to the slot, outside where store_mask forbids it.
std::vector<Ref> masked_indices(const Builder& b, const std::shared_ptr<Slot>& slot,
                                std::vector<Ref> indices);

/// True while a loop, branch or function is being recorded; the session belongs to the thread that
/// does.
inline bool is_recording(const SessionState& session) { return session.scopes.size() > 1; }
/// Notes that the innermost scope holds so many nested levels. UserError if there are more than
/// kMostNested in all.
void note_nested(SessionState& session, int levels, SourceLine line);
void push_scope(SessionState& session, ScopeKind kind, SourceLine line);
Scope pop_scope(SessionState& session);
/// Returns the value of a slot at the scope with this depth; null: it has none.
Ref value_at(SessionState& session, const std::shared_ptr<Slot>& slot, size_t depth);
/// Lets the innermost scope begin with another value of the slot than the scope around it.
void start_value(SessionState& session, const std::shared_ptr<Slot>& slot, const Ref& value);
/// Writes the results of a closed scope at the innermost scope: no masks, no conversions.
/// `assigned`: not only by stores.
void leave_value(SessionState& session, const std::shared_ptr<Slot>& slot, Ref node,
                 bool assigned = true);
/// Marks a slot that a closed scope left without a value.
void leave_lost(SessionState& session, const std::shared_ptr<Slot>& slot, std::string why);
/// Notes that the user's code has read the shape of `node`: loops must not widen it any more.
void note_asked(SessionState& session, const Ref& node, SourceLine line);
/// The depth of the innermost Loop that the current scope may break; 0: there is none.
size_t innermost_loop(const SessionState& session);

/// The depth of the kernel by hand that is being recorded; 0: there is none.
size_t kernel_depth(const SessionState& session);
/// Returns its invocations; null if there is none.
const Shape* kernel_grid(const SessionState& session);

/// Throws UserError with the line at the end.
[[noreturn]] void fail_at(SourceLine line, const std::string& message);

}  // namespace firn
