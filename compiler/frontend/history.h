// What computed values were computed from, for as long as a gradient may ask for it; internal.
//
// A value that is computed becomes a Buffer, a leaf of all that uses it. Its history is the node
// that it was computed as, or the call that gave it: gradients replace the Buffer by that where one
// of the tensors that they are asked for is behind it (with_history). A history is kept while a
// handle has one of the nodes that the value changes with: nothing can be differentiated by others.
// One that is let go of before leaves a mark, by which a gradient that needed it is refused.
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

/// Calls in a row, each of whose argument was written over by the next one, that a gradient
/// computes again.
constexpr int kMostGivenAway = 16;

/// An argument of a call: a node; where its memory was given away, what that was computed from; or
/// a number of the host.
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

/// What a value was computed from: a node, or a result of a call.
struct Past {
    Ref node;
    std::shared_ptr<PastCall> call;
    size_t result = 0;
    int given_away = 0;  // calls on the way that are computed again
};

/// A node that a handle had, or a Buffer with a history, that a value changes with.
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

/// The Buffers that a past holds. The results of a call have one.
struct HeldBuffers {
    std::vector<const Node*> buffers;
    size_t histories = 0;  // whose past it is
};

/// Of a Buffer, which is Node::history of it.
struct History {
    std::weak_ptr<const Node> value;
    std::shared_ptr<const Past> past;   // null: forgotten
    std::shared_ptr<HeldBuffers> held;  // by `past`
    std::shared_ptr<HistorySources> sources;
    SourceLine line;            // of the read or call
    std::string forgotten;      // why
    bool asked_for = true;      // a handle is behind it
    mutable uint64_t walk = 0;  // the last one that came by, see Histories::walks
};

struct Histories {
    std::map<uint64_t, History> all;  // by the value's Node::serial: what a past needs comes before
    std::unordered_map<const Node*, int> uses;  // of Buffers, by what pasts hold
    size_t kept = 0;                            // that are not forgotten
    uint64_t bytes = 0;                         // of the Buffers in `uses`
    size_t unpruned = 0;                        // times that not all were looked at
    uint64_t walks = 0;                         // from one history to what is behind it
};

/// A node, and the Buffer that it was computed to.
struct Computed {
    Ref node, buffer;
};

/// Keeps what values were computed from. To be called once their handles have the Buffers.
void keep_histories(SessionState& session, const std::vector<Computed>& values, SourceLine line);

/// The handle has the Buffer in place of the node that was computed.
void take_buffer(SessionState& session, const std::shared_ptr<Slot>& slot, const Ref& buffer,
                 SourceLine line);

/// Keeps what the results of a call were computed from. `lost`, by argument: a Buffer that the call
/// has written over; `arguments` has its past, where it can be computed again.
void keep_call(SessionState& session, FunctionState& function, std::vector<PastArgument> arguments,
               const std::vector<Ref>& lost, const std::vector<Ref>& results, SourceLine line);

/// What gives the value again without its memory, `node` where it was just computed from that;
/// null: nothing does.
std::shared_ptr<const Past> computed_again(const Ref& buffer, const Ref& node);

/// Lets go of the histories that no gradient can ask for. Before memory is allocated.
void prune_histories(SessionState& session);

/// Makes histories need the memory of a Buffer no more, which no handle has. `again`: see
/// computed_again.
void give_up_memory(SessionState& session, const Ref& buffer, const Past* again, SourceLine line);

/// Forgets all that holds memory; false where nothing does.
bool forget_histories(SessionState& session, const std::string& why);

/// From now on the value depends on nothing.
void make_leaf(SessionState& session, const Ref& buffer);

}  // namespace firn
