// Writes the text before the functions of a kernel: version, extensions, group size, buffers and
// parameters.
#pragma once
#include <iosfwd>

#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// All of them, once the body is written: it decides which extensions there are.
void declare_kernel(std::ostream& out, const GlslRun& run);

}  // namespace firn
