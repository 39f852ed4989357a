// Makes a program that fails small.
#pragma once
#include <functional>

#include "tests/programs/program.h"

namespace firn::programs {

/// Which of the candidates fails in the way that is looked for; -1: none.
using FirstFailing = std::function<int(const std::vector<Program>&)>;

/// As few statements, expressions, arguments, elements and numbers as still fail.
Program shrunk(Program program, const FirstFailing& first_failing);

}  // namespace firn::programs
