// Constants, parameters and indices of the grid: what a kernel's values begin with.
#pragma once
#include <iosfwd>

#include "compiler/codegen/glsl_run.h"

namespace firn {

/// The texts of all leaves.
void name_leaves(GlslRun& run);
/// Where main begins: the variables that these texts name.
void read_leaves(std::ostream& out, const GlslRun& run);

}  // namespace firn
