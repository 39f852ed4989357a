// Delays the loads of inlined values, and finds stores that may overwrite their elements meanwhile.
#pragma once
#include <vector>

#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// Returns the loads of node `id`, its own and those of values that are inlined into it: these no
/// longer wait.
std::vector<NodeId> taken_loads(GlslRun& run, NodeId id);

/// Makes delayed inlined values variables here if `n` may store to the elements that they load; all
/// of them before an effect that loads do not wait for (KernelCode::loads_first).
void define_loads_before(GlslRun& run, const KernelNode& n, int indent);

}  // namespace firn
