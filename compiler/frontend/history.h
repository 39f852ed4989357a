// Keeps the history of computed values for as long as a gradient may need it; internal.
//
// A value that is computed becomes a Buffer, a leaf of all graphs that use it. Its history is the
// node that it was computed as, or the call that returned it: gradients replace the Buffer by its
// history if that depends on one of the tensors by which they differentiate (with_history). A
// history is kept while a handle has one of the nodes that the value changes with: there are no
// gradients by others. A history that is released earlier leaves a mark, and a gradient that needs
// it is refused.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/frontend/record.h"
#include "compiler/ir/graph.h"

namespace firn {

struct FunctionState;
struct RecordedFunction;
struct Past;

/// Histories that are kept at most, and bytes of memory that only they hold. The oldest go first.
constexpr size_t kMostHistories = 256;
constexpr uint64_t kMostHistoryBytes = uint64_t{64} << 20;

/// The longest chain of calls, each with an argument that the next one wrote over, that a gradient
/// computes again.
constexpr int kMostGivenAway = 16;

/// An argument of a call: a node; the past of a donated argument; or a number of the host.
struct PastArgument {
    Ref node;
    std::shared_ptr<const Past> past;
    Scalar number;
};

struct PastCall {
    std::shared_ptr<const RecordedFunction> function;
    std::vector<PastArgument> arguments;  // the declared ones
    std::vector<Ref> captured;            // Buffers
};

/// The origin of a value: a node, or a result of a call.
struct Past {
    Ref node;
    std::shared_ptr<PastCall> call;
    size_t result = 0;
    int given_away = 0;  // how many calls must be computed again
};

/// A node of a handle, or a Buffer with a history, that a value changes with.
struct HistorySource {
    const Node* id = nullptr;
    std::weak_ptr<const Node> node;
};

/// The values with which those that were computed together change. For histories that are
/// forgotten, these are values of handles alone.
struct HistorySources {
    std::vector<HistorySource> all;
    bool are_handles = false;
};

/// A value, of any session, that a copy between sessions changes with.
struct Origin {
    std::weak_ptr<const SessionState> session;
    std::weak_ptr<const Node> node;
};
using Origins = std::vector<Origin>;

/// The Buffers that a past holds. The results of a call have one.
struct HeldBuffers {
    std::vector<const Node*> buffers;
    size_t histories = 0;  // how many histories share this past
};

/// The history of a Buffer, which is its Node::history.
struct History {
    std::weak_ptr<const Node> value;
    std::shared_ptr<const Past> past;   // null: forgotten
    std::shared_ptr<HeldBuffers> held;  // by `past`
    std::shared_ptr<HistorySources> sources;
    Origins origins;            // of a copy, or of the copies behind a value that is forgotten
    SourceLine line;            // the line of the read or call
    std::string forgotten;      // why it was forgotten
    bool asked_for = true;      // whether a handle refers to it
    mutable uint64_t walk = 0;  // the last walk that visited it, see Histories::walks
};

struct Histories {
    std::map<uint64_t, History> all;  // by Node::serial: the inputs of a past come before it
    std::unordered_map<const Node*, int> uses;  // how many pasts hold each Buffer
    size_t kept = 0;                            // how many are not forgotten
    uint64_t bytes = 0;                         // the bytes of the Buffers in `uses`
    size_t unpruned = 0;                        // how many times not all were looked at
    uint64_t walks = 0;  // how many walks from one history to those behind it there were
};

/// A node, and the Buffer that it was computed to.
struct Computed {
    Ref node, buffer;
};

/// Keeps the histories of values. To be called once their handles have the Buffers.
void keep_histories(SessionState& session, const std::vector<Computed>& values, SourceLine line);

/// Gives the handle the Buffer in place of the node that was computed.
void take_buffer(SessionState& session, const std::shared_ptr<Slot>& slot, const Ref& buffer,
                 SourceLine line);

/// Keeps the histories of the results of a call. `lost`, by argument: a Buffer that the call has
/// written over; `arguments` has its past, if it can be computed again.
void keep_call(SessionState& session, FunctionState& function, std::vector<PastArgument> arguments,
               const std::vector<Ref>& lost, const std::vector<Ref>& results, SourceLine line);

/// Returns the values of all sessions that a computed value changes with: itself, and what its
/// histories know, through copies too.
Origins origins_of(const std::shared_ptr<SessionState>& session, const Ref& buffer);

/// Notes that the Buffer is a copy of a value with these origins: a gradient by one of them that is
/// of this session is refused.
void keep_copy(SessionState& session, const Ref& buffer, Origins origins, SourceLine line);

/// Returns a past that computes the value again without its memory; `node` if it was just computed
/// from that; null: there is none.
std::shared_ptr<const Past> computed_again(const Ref& buffer, const Ref& node);

/// Drops the histories that no gradient can need. Runs before memory is allocated.
void prune_histories(SessionState& session);

/// Makes histories no longer need the memory of a Buffer that no handle has. `again`: see
/// computed_again.
void give_up_memory(SessionState& session, const Ref& buffer, const Past* again, SourceLine line);

/// Forgets all histories that hold memory; returns false if none does.
bool forget_histories(SessionState& session, const std::string& why);

/// Makes the value depend on nothing from now on.
void make_leaf(SessionState& session, const Ref& buffer);

}  // namespace firn
