// Stage 3: decides for each value where it lives, and which values share a kernel.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/host_size.h"
#include "compiler/program/device_profile.h"
#include "compiler/program/program.h"

namespace firn {

enum class Verdict : uint8_t {
    Inlined,  // evaluated where it is asked
    Staged,   // in registers, once per row of the kernel that asks for it, by an invocation or by a
              // group
    Materialised,  // in memory
};

/// One value's verdict with the costs that competed, in seconds over the whole program. `reason` is
/// one of the codes below.
struct ValueVerdict {
    Ref value;
    Verdict verdict = Verdict::Inlined;
    std::string reason;
    double inline_seconds = 0, stage_seconds = 0,
           materialise_seconds = 0;        // stage: 0 where it cannot be
    double evaluations = 0, elements = 0;  // if inlined; if materialised
};
inline constexpr const char* kReasonResult = "result";  // the program gives it back
inline constexpr const char* kReasonCarried =
    "carried-by-loop";                                    // a loop of kernels keeps it in a buffer
inline constexpr const char* kReasonOnce = "asked-once";  // nothing is recomputed
inline constexpr const char* kReasonCheaper =
    "cheaper-recomputed";  // costs less than memory traffic
inline constexpr const char* kReasonAtHand =
    "from-what-is-loaded";  // its kernels have, or load beside, what it comes from
inline constexpr const char* kReasonDearer = "dearer-recomputed";  // costs more than memory traffic
inline constexpr const char* kReasonBudget =
    "too-many-accesses";  // asked at more places than are followed
inline constexpr const char* kReasonKernel =
    "asked-in-its-kernel";  // the kernel that computes it alone asks for it
inline constexpr const char* kReasonRow = "once-per-row";  // the row's kernel keeps it
inline constexpr const char* kReasonGroup =
    "once-per-group";  // the group that holds the row combines it
inline constexpr const char* kReasonStage =
    "stage-of-reduction";  // nested, it would walk memory in long strides
inline constexpr const char* kReasonStore = "store";  // written by index
inline constexpr const char* kReasonTurns =
    "too-many-turns";  // nested, its loop may exceed what the driver allows
inline constexpr const char* kReasonByHand = "kernel-by-hand";  // stored to by a kernel by hand
inline constexpr const char* kReasonBindings =
    "too-many-bindings";  // its kernel would bind more tensors than the device does
inline constexpr const char* kReasonLarge =
    "kernel-too-large";  // the kernel would grow beyond its budget

/// A step of a region: values that one kernel computes, or a loop of kernels.
struct ScheduleItem {
    std::vector<Ref> outputs;  // one kernel, outputs of equal shape
    int inner = 0;             // trailing dimensions that each invocation walks by itself
    std::vector<const Node*> row_reductions;  // that the group which holds a row combines
    Ref loop;                                 // or: this Loop as a host step
    std::vector<ScheduleItem> body;           // of the loop
};
// A kernel by hand is an item whose outputs are its results.

/// Values that depend on nothing but scalar arguments, sizes, turns of loops of kernels and
/// constants, and are dear enough to be computed by the host instead of by every invocation.
struct HostNumbers {
    std::vector<HostScalar> scalars;  // for Program::host_scalars, with these inductions:
    std::unordered_map<const Node*, Size> inductions;  // see host_inductions()
    std::unordered_map<const Node*, int> place;        // of the dear ones, among them
};

struct Schedule {
    std::vector<ScheduleItem> items;
    std::vector<ValueVerdict> verdicts;  // in topological order
    std::unordered_set<const Node*> materialised;
    std::unordered_set<const Node*> host_loops;
    HostNumbers numbers;  // that the host computes
};

/// `nested` false: reductions and loops that a reduction would take in every turn are kept in
/// memory, whatever that costs; else only long ones are. Verdicts are the cheapest of three costs
/// from access maps, trip counts and the profile's rates; then materialised values with the same
/// grid join one kernel where no dependency forbids it, and what only that kernel reads stays in
/// its registers.
Schedule make_schedule(const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts = {}, bool nested = true);

/// Nodes of the graph with what the schedule must know of regions.
struct RegionFacts {
    std::vector<Ref> order;  // topological, bodies included
    std::unordered_map<const Node*, int> position;
    /// Loops whose induction or carried values a node depends on (not counting loops inside it).
    std::unordered_map<const Node*, std::vector<const Node*>> loops;
    std::unordered_map<const Node*, const Node*> arg_owner;  // RegionArg -> Loop
    std::unordered_map<const Node*, int> arg_index;          // RegionArg -> position
    std::unordered_set<const Node*> host_loops;
    /// Versions of what kernels by hand store to: their arrays, and the tensors that they carry.
    std::unordered_set<const Node*> arrays;
};
RegionFacts region_facts(const Graph& graph);
/// What the body of a Loop gives, or the bodies of an If; nothing for other nodes.
std::vector<Ref> region_results(const Node& node);
/// The induction of every host loop as a symbol of its own: for host_size before the loops have
/// their steps.
std::unordered_map<const Node*, Size> host_inductions(const RegionFacts& facts);
HostNumbers host_numbers(const RegionFacts& regions);
/// The kernel by hand that a node belongs to or is, null where there is none.
const Node* kernel_by_hand(const RegionFacts& facts, const Node& node);
/// A tensor after a kernel by hand has stored to it.
bool is_stored_by_hand(const Node& node);
/// The innermost host loop that a node belongs to, null for the top.
const Node* home_loop(const RegionFacts& facts, const Node& node);

}  // namespace firn
