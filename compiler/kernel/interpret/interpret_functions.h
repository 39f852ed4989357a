// Functions by their definition (compiler/kernel/functions), for the host interpreter.
#pragma once
#include "compiler/kernel/interpret/interpret_run.h"

namespace firn {

/// Evaluates node `id` if it is a function with a definition, with the bits that targets give;
/// else, and if the run has the host's functions, returns false. Functions of f16 and bf16 are
/// computed in f32 and rounded.
bool run_function(InterpretRun& run, NodeId id, const LaneMask& mask);

}  // namespace firn
