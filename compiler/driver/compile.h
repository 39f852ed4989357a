// The compiler as one function: Graph and DeviceProfile in, Program out.
#pragma once
#include <memory>

#include "compiler/ir/graph.h"
#include "compiler/plan/compile_options.h"
#include "compiler/program/program.h"

namespace firn {

/// Compiles `graph` for `profile`. Needs no device. Throws UserError if the program cannot run
/// within the profile's limits; the message says which limit is exceeded, by how much, and what to
/// change.
std::shared_ptr<const Program> compile_graph(NodeTable& table, const Graph& graph,
                                             const DeviceProfile& profile,
                                             const CompileOptions& options = {});

/// Builds every kernel of a program from its text (Target::build).
void compile_kernels(Program& program, const CompileOptions& options);
void compile_kernel(Program& program, size_t kernel, const CompileOptions& options);

}  // namespace firn
