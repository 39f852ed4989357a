// Writes the exchanges between the lanes of a subgroup.
#pragma once
#include <string>

#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// Returns the invocation's index along a dimension of a group whose rows, of whole subgroups, are
/// launched one behind the other (launched_group). Computes it from the numbers of its subgroup and
/// its lane, because drivers choose which invocations form a subgroup. Only devices on which a
/// probe found that these numbers count each invocation once have subgroup_shuffle
/// (engine/gpu/answers.cpp).
std::string index_by_subgroups(const GlslRun& run, int dim);

/// A SubgroupShuffle or SubgroupRead.
std::string shuffle_text(GlslRun& run, const KernelNode& n);

void write_subgroup_reduce(GlslRun& run, NodeId id, int indent);
/// Writes a scan in which each lane takes the values of the lanes 1, 2, 4 .. before it (Hillis and
/// Steele, 1986).
void write_subgroup_scan(GlslRun& run, NodeId id, int indent);

}  // namespace firn
