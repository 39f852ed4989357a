// Remainders of floats: which of the functions in arithmetic.glsl takes one.
#pragma once
#include <string>
#include <vector>

#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// Writes `node`, a Mod of floats, with these operands. A remainder with a possibly large quotient
/// is a long division, a loop of up to 28 steps (f32) or 88 (f64). If bounds show that the quotient
/// is small no loop is needed; if the kernel's own loops and these could take more back edges than
/// the device allows, the steps are written out.
std::string remainder_text(const GlslRun& run, const KernelNode& node,
                           const std::vector<std::string>& operands);

}  // namespace firn
