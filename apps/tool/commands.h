// The commands of the tool: each prints to standard output and returns the exit status.
#pragma once
#include "apps/tool/command_line.h"

namespace firn::tool {

/// Prints arguments, parameters, results and, for every form of the program, kernels, steps,
/// memory, and what it assumes and needs.
int inspect_file(const ToolOptions& options);
/// Runs the program on files, several times if asked, and writes results.
int run_file(const ToolOptions& options);
/// Prints medians of the times of calls and kernels.
int bench_file(const ToolOptions& options);
/// Writes the kernels in another language, and program.json. Returns 1 if a kernel cannot be
/// written.
int export_file(const ToolOptions& options);

}  // namespace firn::tool
