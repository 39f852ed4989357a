// The reports of FIRN_DEBUG and FIRN_DUMP_DIR; internal.
#pragma once
#include <memory>

#include "compiler/driver/compile.h"
#include "compiler/frontend/record.h"

namespace firn {

/// Returns a trace if FIRN_DEBUG or FIRN_DUMP_DIR will print the result of each pass; else null.
std::shared_ptr<CompileTrace> trace_for(const SessionState& session);
/// Prints, at FIRN_DEBUG 3 and up, the graph before and after the passes; at 4, graphs and kernels
/// after every pass; at 5, times and rules that fired. `trace` may be null.
void report_trace(const SessionState& session, const CompileTrace* trace);
/// Prints also, at FIRN_DEBUG 1 and up, the kernels; at 2, their texts; at 4, the verdicts. Writes
/// all of it as files to FIRN_DUMP_DIR.
void report_program(SessionState& session, const Graph& graph, const Program& program,
                    const CompileTrace* trace);
/// Waits, and prints the work of one run of the program and the time of every kernel, at FIRN_DEBUG
/// 1 and up. `program`: null if nothing was compiled.
void report_run(SessionState& session, const Program* program, const SizeEnv& symbols);
/// Shows the progress of a long run, on a terminal and with FIRN_DEBUG.
void report_progress(SessionState& session);

}  // namespace firn
