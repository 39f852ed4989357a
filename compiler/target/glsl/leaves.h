// Writes the leaves of a kernel's values: constants, parameters and indices of the grid.
#pragma once
#include <iosfwd>

#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// The texts of all leaves.
void name_leaves(GlslRun& run);
/// Writes the begin of main: the variables that these texts name.
void read_leaves(std::ostream& out, const GlslRun& run);

}  // namespace firn
