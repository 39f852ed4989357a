// Writes nodes that compute values from values, as expressions.
#pragma once
#include <string>

#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// A node that is no statement: of operations on lanes, loads, matrices and subgroups each one.
std::string expression_text(GlslRun& run, const KernelNode& n);

/// An operation on two expressions of the type of its result.
std::string combined_text(GlslRun& run, KernelOp op, DType dtype, const std::string& a,
                          const std::string& b);

}  // namespace firn
