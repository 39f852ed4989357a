// Adds a program's notes about itself, once its steps are known.
#pragma once
#include <vector>

#include "compiler/program/program.h"
#include "compiler/program/size_env.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Adds the limits that the sizes of the kernels' bindings are assumed to keep.
void note_assumed(Program& program, const SymbolFacts& facts);
/// Adds each value's verdict and its reason.
void add_verdicts(Program& program, const std::vector<ValueVerdict>& verdicts);

}  // namespace firn
