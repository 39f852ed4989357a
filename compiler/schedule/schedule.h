// Stage 3: decides for each value where it lives, and which values share a kernel.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"
#include "compiler/schedule/host_numbers.h"

namespace firn {

enum class Verdict : uint8_t {
    Inlined,  // evaluated where it is asked
    Staged,   // in registers, once per row of the kernel that asks for it, by an invocation or by a
              // group
    Materialised,  // in memory
};

/// The verdict of a value with the costs that competed, in seconds over the whole program. `reason`
/// is one of the codes below.
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
inline constexpr const char* kReasonAlreadyLoaded =
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
inline constexpr const char* kReasonLast =
    "last-of-stores";  // which store at an element is the last: its user promised nothing
inline constexpr const char* kReasonStates =
    "states-of-iterations";  // what a loop's iterations begin with, for its gradient
inline constexpr const char* kReasonAgain =
    ", recomputed-at-neighbours";  // besides: the kernel that keeps it asks for its neighbours, too
inline constexpr const char* kReasonTrips =
    "too-many-iterations";  // nested, its loop may exceed what the driver allows
inline constexpr const char* kReasonHost = "host-call";         // the host takes or gives it
inline constexpr const char* kReasonByHand = "kernel-by-hand";  // stored to by a kernel by hand
inline constexpr const char* kReasonBindings =
    "too-many-bindings";  // its kernel would bind more tensors than the device does
inline constexpr const char* kReasonProduct =
    "beside-a-product";  // its kernel computes another product, with which it would share a tile
inline constexpr const char* kReasonLarge =
    "kernel-too-large";  // the kernel would grow beyond its budget
inline constexpr const char* kReasonExcess =
    "computed-too-often";  // its kernel took many times the operations of its values

/// A step of a region: values that one kernel computes, or a loop of kernels.
struct ScheduleItem {
    std::vector<Ref> outputs;  // one kernel, outputs of equal shape
    int inner = 0;             // trailing dimensions that each invocation walks by itself
    std::vector<const Node*> row_reductions;  // those that the row's group combines
    /// Outputs, or values that they are computed from, which the kernel also asks for at other
    /// indices and computes again there.
    NodeSet again;
    Ref loop;                        // or: this Loop as a host step
    std::vector<ScheduleItem> body;  // of the loop
};
// A kernel written by hand is an item whose outputs are the kernel's results.

struct Schedule {
    std::vector<ScheduleItem> items;
    std::vector<ValueVerdict> verdicts;  // in topological order
    NodeSet materialised;
    NodeSet host_loops;
    NodeSet small_loops;  // of these, that were taken to become one kernel each
    NodeSet kept;         // values that it was asked to keep in memory
    HostNumbers numbers;  // that the host computes
    /// Why verdicts were made again, a reason for each round after the first.
    std::vector<std::string> rounds;
};

/// Makes the schedule. If `nested` is false, reductions and loops that a reduction would run in
/// every iteration are kept in memory at any cost; otherwise only long ones are. A step of a loop
/// that one group may run costs a barrier and no launch, except in the loops of `launched`, which
/// were tried. The values of `kept` are kept in memory, since computing them at their uses took too
/// long. Verdicts are the cheapest of three costs, from access maps, trip counts and the profile's
/// rates. Materialised values with the same grid then join one kernel unless a dependency forbids
/// it, and what only that kernel reads stays in its registers.
Schedule make_schedule(const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts = {}, bool nested = true,
                       const NodeSet& launched = {}, const NodeSet& kept = {});
/// Makes kernels that walk rows, given by their first outputs, use one invocation per element
/// instead, each of which computes all that it needs. False if none of them walks rows.
bool leave_rows(Schedule& schedule, const NodeSet& roots);

}  // namespace firn
