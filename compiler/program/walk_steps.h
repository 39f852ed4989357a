// Visits the steps of a program in the order in which they run: loops are unrolled as they are
// reached, so that memory does not grow with their iterations.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/program/program.h"

namespace firn {

/// The callbacks of a walk.
struct StepVisitor {
    virtual ~StepVisitor() = default;
    /// The next step that runs; valid during the call.
    virtual void step(const FlatStep& step) = 0;
    /// Returns whether the bool in `slot` is true when all steps so far have run. The loop that
    /// asks has taken `iterations` iterations.
    virtual bool goes_on(int slot, int64_t iterations) = 0;
    /// Returns whether goes_on costs nothing, because the host has the values: it is then asked
    /// after every iteration.
    virtual bool asks_freely() const { return false; }
    /// An iteration of a loop that stands in no other loop begins; `trips` is -1 where only the
    /// data knows.
    virtual void outermost_iteration(const RepeatStep&, int64_t /*iteration*/, int64_t /*trips*/) {}
};

/// The other slots that share the memory of each slot.
using SlotSets = std::vector<std::vector<int>>;

/// Visits every step that does something. Steps that touch memory which `shared` says is the same
/// wait for one another. Gives the slot that holds each result at the end. Throws UserError with
/// RepeatStep::never_ended.
std::vector<int> walk_steps(const Program& program, const SizeEnv& env, StepVisitor& visitor,
                            const SlotSets& shared = {});

/// Steps that are held at once: some megabytes with their records.
inline constexpr int64_t kMostFlatSteps = 8192;
/// All steps are known when the program begins, and no more than kMostFlatSteps.
bool can_be_flat(const Program& program, const SizeEnv& env);
/// Returns the slots in which the results end, if loops whose end depends on data leave every
/// buffer in its own slot.
std::vector<int> expected_result_slots(const Program& program, const SizeEnv& env);

/// Returns how many of a loop's `trips` iterations run before the device is first asked whether it
/// goes on.
int64_t iterations_before_check(const Program& program, const RepeatStep& repeat, int64_t trips,
                                const SizeEnv& env);

/// The body of every loop once, empty steps too, and buffers in place of slots. `loops` are the
/// loops.
FlatProgram outline(const Program& program);
/// Returns by buffer the first buffer of its rotation class, that is, of the buffers that exchange
/// memory by rotations.
std::vector<int> rotation_classes(const Program& program);

/// Memory that is right for any number of iterations of every loop: buffers that rotate live as
/// long as one another.
struct RotatingMemory {
    MemoryPlan plan;           // for results that end in their own slots
    std::vector<int> classes;  // see rotation_classes
    SlotSets shared;           // for walk_steps
};
RotatingMemory plan_rotating_memory(const Program& program, const SizeEnv& env);
/// The offsets where the results end in `result_slots`.
std::vector<uint64_t> offsets_for(const RotatingMemory& memory, const Program& program,
                                  const std::vector<int>& result_slots);

}  // namespace firn
