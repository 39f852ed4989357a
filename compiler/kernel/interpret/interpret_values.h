// Gives the lanes of a kernel's nodes their memory, for the host interpreter.
#pragma once
#include "compiler/kernel/interpret/interpret_run.h"

namespace firn {

/// Gives every node that takes part in the kernel its lanes; constants and parameters have their
/// values from here on. Needs the number of lanes.
void place_values(InterpretRun& run);

}  // namespace firn
