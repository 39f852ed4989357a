// Makes a program that fails small.
#pragma once
#include <functional>

#include "tests/programs/program.h"

namespace firn::programs {

/// Returns the index of the first candidate that fails in the expected way; -1: none.
using FirstFailing = std::function<int(const std::vector<Program>&)>;

/// Returns the program with as few statements, expressions, arguments, elements and numbers as
/// still fail.
Program shrunk(Program program, const FirstFailing& first_failing);

}  // namespace firn::programs
