// What a program says of itself, once its steps are known.
#pragma once
#include <vector>

#include "compiler/program/program.h"
#include "compiler/program/size_env.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// What is left open of the sizes that the kernels bind.
void note_assumed(Program& program, const SymbolFacts& facts);
/// What was decided of each value, and why.
void add_verdicts(Program& program, const std::vector<ValueVerdict>& verdicts);

}  // namespace firn
