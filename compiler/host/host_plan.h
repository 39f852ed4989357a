// Plans hold all that a program needs at given sizes to run on the host, as plain data.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/program/walk_steps.h"

namespace firn {

/// A parameter that is known only at the call: a scalar argument, or a size that depends on one.
struct LateParam {
    size_t at = 0;  // in HostStep::params
    DType dtype = i32;
    int scalar = -1;  // an argument, or behind them a number that the host computes
    Size size;        // when `scalar` is -1
    SizeEnv env;      // then
};

/// A dispatch, a copy or a call.
struct HostStep {
    const DispatchStep* dispatch = nullptr;  // with the next null: a copy
    const CallStep* call = nullptr;
    std::vector<int> slots;
    std::vector<uint64_t> params;  // as param_bits gives them
    std::vector<LateParam> late;
    std::array<int64_t, 3> groups{};
    double seconds = 0;                              // predicted, without the launch
    std::vector<int64_t> input_shape, output_shape;  // of a call
};

/// A program at given sizes.
struct HostPlan {
    bool in_parts = false;             // its steps are found as it runs
    std::vector<uint64_t> slot_bytes;  // that a step may touch
    std::vector<uint64_t> slot_sizes;  // bytes of the elements; only where kernels check accesses
    uint64_t scratch_bytes = 0;        // for temporaries
    double seconds = 0;                // predicted, of `steps`
    std::vector<bool> slot_written;
    PlacedNumbers numbers;  // that parameters of the steps use
    // Not in parts:
    std::vector<int> ends;          // the slots of the results
    std::vector<uint64_t> offsets;  // of temporaries in the scratch memory, see MemoryPlan
    std::vector<HostStep> steps;
    // In parts:
    RotatingMemory rotating;
    std::map<const DispatchStep*, HostStep> same;  // so far; without slots, see StepForms
};

/// How the steps of a program depend on symbols.
struct StepForms {
    std::set<std::string> inductions;  // of all loops
    std::set<std::string> late;        // scalar arguments whose values a plan does not hold for
};

/// `late`: symbols whose values the call fills in. Numbers that the host computes get places in
/// `numbers`.
HostStep plan_host_step(const Program& program, const DeviceProfile& profile, const FlatStep& step,
                        const std::set<std::string>& late, PlacedNumbers& numbers);
/// Returns whether the dispatch is the same in all iterations of the loops around it, but for its
/// slots.
bool is_same_each_time(const Program& program, const DispatchStep& dispatch,
                       const std::set<std::string>& inductions);
/// Fills in the parameters that depend on the scalars of this call. `computed` are the values of
/// the numbers.
void fill_late(HostStep& step, const std::vector<Scalar>& scalars,
               const std::vector<Scalar>& computed);

/// `in_parts`: so in any case. Without `with_steps` they are not planned, but for their memory.
HostPlan plan_on_host(const Program& program, const DeviceProfile& profile, const SizeEnv& env,
                      const StepForms& forms, bool in_parts, bool with_steps);
/// Fills HostPlan::slot_sizes.
void plan_slot_sizes(HostPlan& plan, const Program& program, const SizeEnv& env);

}  // namespace firn
