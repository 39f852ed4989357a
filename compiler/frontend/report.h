// What FIRN_DEBUG and FIRN_DUMP_DIR ask for; internal.
#pragma once
#include "compiler/frontend/record.h"

namespace firn {

/// FIRN_DEBUG 3 and up: the graph before and after the passes; 4: after every pass; 5: rules that
/// fired.
void report_graph(SessionState& session, const Graph& graph);
/// FIRN_DEBUG 1 and up: the kernels; 2: their GLSL; 4: verdicts. FIRN_DUMP_DIR: all of it as files.
void report_program(SessionState& session, const Graph& graph, const Program& program);
/// FIRN_DEBUG 1 and up: waits, and prints what one run of the program did and the time of every
/// kernel. `program`: null where nothing was compiled.
void report_run(SessionState& session, const Program* program, const SizeEnv& symbols);
/// On a terminal, and with FIRN_DEBUG: how far a run is that takes long.
void report_progress(SessionState& session);

}  // namespace firn
