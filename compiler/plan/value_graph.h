// Finds which value of a schedule is computed from which, and by which kernels.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/program/compile_trace.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Returns a row for each verdict. `computed`: by dispatch, the values that it leaves in memory;
/// those that are not in memory belong to the dispatches that read them. Values without verdict,
/// such as numbers, and movements are passed over: a value that reads one reads its sources.
std::vector<CompileTrace::Value> value_graph(const Graph& graph,
                                             const std::vector<ValueVerdict>& verdicts,
                                             const std::vector<std::vector<const Node*>>& computed);

}  // namespace firn
