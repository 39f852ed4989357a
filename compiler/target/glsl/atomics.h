// Stores that combine with concurrent stores of other invocations.
#pragma once
#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// Writes an Atomic: by the device's own operation if there is one, else by compare and exchange.
/// In the invocation's private memory no other invocation combines, so it needs neither.
void write_atomic(GlslRun& run, NodeId id, int indent);

}  // namespace firn
