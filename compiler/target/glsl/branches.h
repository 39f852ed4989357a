// Branches of a kernel and the values that they give.
#pragma once
#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// A Branch.
void write_branch(GlslRun& run, NodeId id, int indent);

}  // namespace firn
