// What the lanes of a subgroup give one another.
#pragma once
#include <string>

#include "compiler/codegen/glsl_run.h"

namespace firn {

/// A SubgroupShuffle or SubgroupRead.
std::string shuffle_text(GlslRun& run, const KernelNode& n);

void write_subgroup_reduce(GlslRun& run, int id, int indent);
/// Each lane takes what the lanes 1, 2, 4 .. before it have (Hillis and Steele, 1986).
void write_subgroup_scan(GlslRun& run, int id, int indent);

}  // namespace firn
