// What the lanes of a subgroup give one another.
#pragma once
#include <string>

#include "compiler/codegen/glsl_run.h"

namespace firn {

/// The invocation's index along a dimension of a group whose rows, of whole subgroups, are launched
/// one behind the other (launched_group): by the numbers of its subgroup and its lane, since which
/// invocations a driver makes subgroups of is its own choice. Only devices have subgroup_shuffle
/// whose numbers a probe found to count each invocation once (engine/gpu/answers.cpp).
std::string index_by_subgroups(const GlslRun& run, int dim);

/// A SubgroupShuffle or SubgroupRead.
std::string shuffle_text(GlslRun& run, const KernelNode& n);

void write_subgroup_reduce(GlslRun& run, int id, int indent);
/// Each lane takes what the lanes 1, 2, 4 .. before it have (Hillis and Steele, 1986).
void write_subgroup_scan(GlslRun& run, int id, int indent);

}  // namespace firn
