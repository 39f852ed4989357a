// Regions of a kernel, its loops and branches as blocks of LLVM IR.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Returns the nodes of a region in the order in which they are written: sums with what its loop
/// carries as soon as their operands, and the effects of kernels that are not in order at the end.
std::vector<NodeId> nodes_of(const KernelCode& code, RegionId id);
/// Writes one node, and the regions that it runs.
void write_node(IrRun& run, NodeId id);
/// Writes a loop over [from, to) whose index of `type` has this name, which `body` gets.
void counted_loop(IrRun& run, const std::string& type, const std::string& name,
                  const std::string& from, const std::string& to,
                  const std::function<void(const std::string& index)>& body);
/// Writes the nodes of a region and its effects, in their order, under the mask of the run.
void write_region(IrRun& run, RegionId id);

}  // namespace firn::native
