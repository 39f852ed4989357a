// Records the result of every pass for a program that exists already.
#pragma once
#include "compiler/program/compile_trace.h"
#include "compiler/program/program.h"

namespace firn {

/// Compiles the program once more, up to its kernels and with the mappings and cuts that tuning
/// found for it, and returns the result of each pass. If the emitted kernel differs from what the
/// last pass left, it is the last of the kernel's texts. Any thread may call it. Throws UserError
/// if the program does not know what it was compiled from.
CompileTrace trace_of(const Program& program);

}  // namespace firn
