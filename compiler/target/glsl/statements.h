// The nodes of a region, in order: as statements, or as expressions where they are used.
#pragma once
#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// Everything that region `id` computes and does.
void write_region(GlslRun& run, RegionId id, int indent);

}  // namespace firn
