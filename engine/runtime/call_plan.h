// A program at given sizes, as the flat list of commands that recording walks: plain data, no
// Vulkan.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program/program.h"

namespace firn {

/// One dispatch or copy.
struct PlannedStep {
    int binding_set = -1;          // dispatch: index into CallPlan::sets; -1: a copy
    int source = -1, target = -1;  // copy: slots
    std::array<uint32_t, 3> groups{};
    int groups_slot = -1;          // an indirect dispatch: where the device finds its groups
    uint64_t groups_offset = 0;    // and at which byte of it
    uint32_t param_offset = 0;  // dispatch: its parameters in CallPlan::params
    bool barrier_before = false;
};

/// A kernel and the slots of its bindings; dispatches with the same ones share a descriptor set.
struct PlannedSet {
    int kernel = 0;
    std::vector<int> slots;
    friend auto operator<=>(const PlannedSet&, const PlannedSet&) = default;
};

/// A parameter that is known only at the call: a scalar argument, or a size that depends on one.
struct ParamPatch {
    uint32_t offset = 0;  // in CallPlan::params
    DType dtype = i32;
    int scalar = -1;   // an argument, or behind them a number that the host computes
    Size size;     // when `scalar` is -1
    int env = -1;  // then: index into CallPlan::envs
};

struct CallPlan {
    std::vector<PlannedStep> steps;
    std::vector<FlatLoop> loops;       // steps that are run again until the device says stop
    std::vector<PlannedSet> sets;
    std::vector<uint64_t> slot_bytes;  // what a binding of each slot may touch
    std::vector<bool> slot_used, slot_written;
    std::vector<int> result_slots;
    std::vector<uint64_t> scratch_offsets;  // per slot; UINT64_MAX: the slot is no temporary
    uint64_t scratch_bytes = 0;             // temporaries, then `buffer_params` bytes
    uint64_t scratch_params = 0;            // where those begin
    /// Parameters of all dispatches: first those that live in a buffer, then push constants.
    std::vector<std::byte> params;
    uint64_t buffer_params = 0;
    std::vector<ParamPatch> patches;
    std::vector<SizeEnv> envs;
    std::vector<HostScalar> host_scalars;   // those that parameters ask for, as placed
    int dispatches = 0, barriers = 0;
    bool indirect = false;   // some dispatch is
};

/// Names of the symbols that a plan depends on, sorted: all but scalar arguments that are used only
/// as values of parameters, which recording fills in.
std::vector<std::string> plan_symbols(const Program& program);

/// Throws UserError where a dispatch has more workgroups than `profile` allows.
CallPlan plan_call(const Program& program, const DeviceProfile& profile, const SizeEnv& env);

/// Turns of loops that earlier runs of their steps did, by induction symbol.
using TurnsDone = std::vector<std::pair<std::string, int64_t>>;
/// What patch_params writes over again and again: copies of the plan's parameters, and numbers.
struct PatchedParams {
    std::vector<std::byte> bytes;
    std::vector<SizeEnv> envs;
    std::vector<Scalar> computed;
};
PatchedParams unpatched(const CallPlan& plan);
/// Fills in what depends on the scalars of this call, and on the turns done. Allocates nothing.
void patch_params(const CallPlan& plan, const std::vector<Scalar>& scalars, const TurnsDone& done, PatchedParams& params);

}  // namespace firn
