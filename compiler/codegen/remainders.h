// Remainders of floats: which of the functions in arithmetic.glsl takes one.
#pragma once
#include <string>
#include <vector>

#include "compiler/codegen/glsl_run.h"

namespace firn {

/// `node`, a Mod of floats, of these operands. A remainder whose quotient may be large is a long
/// division, a loop of up to 28 steps (f32) or 88 (f64). It needs none where bounds tell that the
/// quotient is small, and is written out where the kernel's own loops and these could take more
/// back edges than the device allows.
std::string remainder_text(const GlslRun& run, const KernelNode& node,
                           const std::vector<std::string>& operands);

}  // namespace firn
