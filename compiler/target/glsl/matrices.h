// Matrices that the lanes of a subgroup hold together, by GL_NV_cooperative_matrix.
#pragma once
#include <set>
#include <string>

#include "compiler/target/glsl/glsl_run.h"

namespace firn {

bool uses_matrices(const KernelCode& code);
/// Names for `#extension NAME : require` in a kernel that uses matrices.
std::set<std::string> matrix_extensions();
/// The type of a value that is a matrix.
std::string matrix_type(const KernelNode& n);

/// A MatrixFill, MatrixCast or MatrixMulAdd.
std::string matrix_text(const GlslRun& run, const KernelNode& n);
/// A MatrixLoad or MatrixStore.
void write_matrix(GlslRun& run, NodeId id, int indent);

}  // namespace firn
