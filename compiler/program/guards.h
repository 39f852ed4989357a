// What a program assumes of its symbols.
#pragma once
#include "compiler/program/program.h"

namespace firn {

/// Throws UserError at the first guard that does not hold. Guards on symbols that `env` does not
/// have are left to who knows them.
void check_guards(const Program& program, const SizeEnv& env);

}  // namespace firn
