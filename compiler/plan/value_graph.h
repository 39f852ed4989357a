// Which value of a schedule is computed from which, and by which kernels.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/program/compile_trace.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// A row for each verdict. `computed`: by dispatch, the values that it leaves in memory; those that
/// are not in memory belong to the dispatches of whoever reads them. What has no verdict, such as a
/// number, and what computes nothing is passed over: who reads it reads what it is made of.
std::vector<CompileTrace::Value> value_graph(const Graph& graph,
                                             const std::vector<ValueVerdict>& verdicts,
                                             const std::vector<std::vector<const Node*>>& computed);

}  // namespace firn
