// The compiler as one function: Graph and DeviceProfile in, Program out.
#pragma once
#include <memory>

#include "compiler/ir/graph.h"
#include "compiler/plan/compile_options.h"
#include "compiler/program/program.h"

namespace firn {

/// Compiles `graph` for `profile`. Needs no device. Throws UserError where the program cannot run
/// within the profile's limits (what is over, by how much, what to change).
std::shared_ptr<const Program> compile_graph(NodeTable& table, const Graph& graph,
                                             const DeviceProfile& profile,
                                             const CompileOptions& options = {});

/// The SPIR-V of one kernel, from its GLSL.
void compile_kernel(KernelInfo& kernel, const CompileOptions& options);

}  // namespace firn
