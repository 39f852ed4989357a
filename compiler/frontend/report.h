// The reports of FIRN_DEBUG and FIRN_DUMP_DIR; internal.
#pragma once
#include <memory>

#include "compiler/driver/compile.h"
#include "compiler/frontend/record.h"

namespace firn {

/// Returns a trace if FIRN_DEBUG or FIRN_DUMP_DIR will print the result of each pass; else null.
std::shared_ptr<CompileTrace> trace_for(const SessionState& session);
/// FIRN_DEBUG 3 and up: the graph before and after the passes; 4: graphs and kernels after every
/// pass; 5: times and rules that fired. `trace` may be null.
void report_trace(const SessionState& session, const CompileTrace* trace);
/// And FIRN_DEBUG 1 and up: the kernels; 2: their GLSL; 4: verdicts. FIRN_DUMP_DIR: all of it as
/// files.
void report_program(SessionState& session, const Graph& graph, const Program& program,
                    const CompileTrace* trace);
/// FIRN_DEBUG 1 and up: waits, and prints the work of one run of the program and the time of every
/// kernel. `program`: null if nothing was compiled.
void report_run(SessionState& session, const Program* program, const SizeEnv& symbols);
/// On a terminal, and with FIRN_DEBUG: how far a run is that takes long.
void report_progress(SessionState& session);

}  // namespace firn
