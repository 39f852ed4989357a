// Stores that combine with what others store at the same time.
#pragma once
#include "compiler/codegen/glsl_run.h"

namespace firn {

/// An Atomic: by the device's own operation where there is one, else by compare and exchange. In
/// memory of the invocation's own nobody else combines, and neither is needed.
void write_atomic(GlslRun& run, int id, int indent);

}  // namespace firn
