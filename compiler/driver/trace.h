// What every pass made of a program, once it is there.
#pragma once
#include "compiler/program/compile_trace.h"
#include "compiler/program/program.h"

namespace firn {

/// Compiles the program once more, up to GLSL and with the mappings and cuts that tuning found for
/// it, and keeps what each pass makes. Where what is emitted is not what the last pass left, it is
/// the last of a kernel's texts. Any thread may call it. UserError where the program does not know
/// what it was compiled from.
CompileTrace trace_of(const Program& program);

}  // namespace firn
