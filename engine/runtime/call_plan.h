// A program at given sizes, as the flat list of commands that recording walks: plain data, no
// Vulkan.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/plan_symbols.h"
#include "compiler/program/walk_steps.h"

namespace firn {

/// A dispatch or a copy.
struct PlannedStep {
    int binding_set = -1;          // dispatch: index into PlannedSteps::sets; -1: a copy
    int source = -1, target = -1;  // copy: slots
    std::array<uint32_t, 3> groups{};
    int groups_slot = -1;        // an indirect dispatch: where the device finds its groups
    uint64_t groups_offset = 0;  // and at which byte of it
    uint32_t param_offset = 0;   // dispatch: its parameters in PlannedSteps::params
    bool barrier_before = false;
    double seconds = 0;  // predicted
};

/// A kernel and the slots of its bindings; dispatches with the same ones share a descriptor set.
struct PlannedSet {
    int kernel = 0;
    std::vector<int> slots;
    friend auto operator<=>(const PlannedSet&, const PlannedSet&) = default;
};

/// A parameter that is known only at the call: a scalar argument, or a size that depends on one.
struct ParamPatch {
    uint32_t offset = 0;  // in PlannedSteps::params
    DType dtype = i32;
    int scalar = -1;  // an argument, or behind them a number that the host computes
    Size size;        // when `scalar` is -1
    int env = -1;     // then: index into PlannedSteps::envs
};

/// The place in the parameters of the address of a slot's memory.
struct AddressPatch {
    uint32_t offset = 0;  // in PlannedSteps::params
    int slot = 0;
};

/// Steps that are recorded together.
struct PlannedSteps {
    std::vector<PlannedStep> steps;
    std::vector<PlannedSet> sets;
    /// Parameters of all dispatches: first those that live in a buffer, then push constants.
    std::vector<std::byte> params;
    uint64_t buffer_params = 0;
    std::vector<ParamPatch> patches;
    std::vector<AddressPatch> addresses;
    std::vector<SizeEnv> envs;
    std::vector<HostScalar> host_scalars;  // those that parameters use, as placed
    int dispatches = 0, barriers = 0;
    bool indirect = false;  // whether a dispatch is indirect
    double seconds = 0;     // predicted
};

/// A program at given sizes, with its steps if they are few and known when it begins. Else the
/// steps are found as it runs (`in_parts`), and the plan holds for any number of iterations of
/// every loop.
struct CallPlan : PlannedSteps {
    bool in_parts = false;
    RotatingMemory rotating;           // in_parts: its temporaries
    std::vector<uint64_t> slot_bytes;  // the bytes that a binding of each slot may touch
    std::vector<bool> slot_used, slot_written;
    std::vector<int> result_slots;  // not in_parts
    std::vector<uint64_t>
        scratch_offsets;          // not in_parts; per slot; UINT64_MAX: the slot is no temporary
    uint64_t scratch_bytes = 0;   // temporaries, then `scratch_param_bytes`
    uint64_t scratch_params = 0;  // where those begin
    uint64_t scratch_param_bytes = 0;
};

/// Throws UserError where a dispatch has more workgroups than `profile` allows. `in_parts`: so in
/// any case.
CallPlan plan_call(const Program& program, const DeviceProfile& profile, const SizeEnv& env,
                   bool in_parts = false);
/// Plans some of the steps. `filled_in`: symbols whose values recording fills in.
PlannedSteps plan_steps(const Program& program, const DeviceProfile& profile,
                        std::span<const FlatStep> steps,
                        const std::set<std::string>& filled_in = {});
/// Bytes that the parameters of a dispatch take in a buffer, 0 where they are push constants.
uint64_t buffer_param_bytes(const KernelInfo& kernel, const DeviceProfile& profile);

/// The memory that patch_params writes over again and again: copies of the plan's parameters, and
/// numbers.
struct PatchedParams {
    std::vector<std::byte> bytes;
    std::vector<SizeEnv> envs;
    std::vector<Scalar> computed;
};
PatchedParams unpatched(const PlannedSteps& plan);
/// Fills in the parameters that depend on the scalars of this call. Allocates nothing.
void patch_params(const PlannedSteps& plan, const std::vector<Scalar>& scalars,
                  PatchedParams& params);

}  // namespace firn
