// Elements of memory that a kernel loads and stores.
#pragma once
#include <string>

#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// The array that a load or a store names.
std::string array_text(const KernelCode& code, const KernelNode& n);
/// The index of a load or a store. One that is outside wherever it is computed stands behind a
/// condition that never holds, which GLSL does not see: it refuses the index.
std::string place_text(const GlslRun& run, const KernelNode& n);

/// A Load, as an expression.
std::string load_text(const GlslRun& run, const KernelNode& n);
/// A Store.
void write_store(GlslRun& run, const KernelNode& n, int indent);
/// An Array: memory of the kernel's own begins as zeros, or as its argument says.
void write_array(GlslRun& run, const KernelNode& n, int indent);

}  // namespace firn
