// Loops of a kernel and the values that they carry.
#pragma once
#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// A For.
void write_for(GlslRun& run, NodeId id, int indent);

}  // namespace firn
