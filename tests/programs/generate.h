// Makes random programs, the same for the same seed.
#pragma once
#include "tests/programs/program.h"

namespace firn::programs {

/// The features that programs may have.
struct Grammar {
    int fewest = 3, most = 7;  // statements of the outermost block
};

/// A program that the reference can run, and that says something: see Unsuitable.
Program generate(uint64_t seed, const Grammar& grammar = {});

}  // namespace firn::programs
