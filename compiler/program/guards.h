// Checks a program's assumptions about its symbols.
#pragma once
#include "compiler/program/program.h"

namespace firn {

/// Throws UserError at the first guard that does not hold. Skips guards on symbols that `env` does
/// not have.
void check_guards(const Program& program, const SizeEnv& env);

}  // namespace firn
