// Groups whose invocations wait for one another: their subgroups take turns between two barriers.
#pragma once
#include <functional>
#include <string>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Returns whether the subgroups of this kernel's groups can take turns: there are several whole
/// ones, and all invocations of a group come to the same barriers.
bool can_take_turns(const KernelCode& code, const DeviceProfile& profile);

/// Writes the root region in parts, from one barrier to the next. All subgroups of a group run a
/// part, one after the other, before the first one begins the next part. A value that a later part
/// needs is kept for each subgroup; an integer that follows from ranges is computed anew.
/// `begin_turn` names the ranges for the subgroup whose first invocation has this number.
void write_in_turns(IrRun& run, const std::function<void(const std::string& first)>& begin_turn);

}  // namespace firn::native
