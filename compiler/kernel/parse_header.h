// Parses the header of a kernel's text: facts, buffers, parameters, ranges and leaves.
#pragma once
#include "compiler/kernel/parse_run.h"

namespace firn {

/// Parses a line of the header.
void parse_header(ParseRun& run);

}  // namespace firn
