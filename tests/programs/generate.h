// Makes random programs, the same for the same seed.
#pragma once
#include "tests/programs/program.h"

namespace firn::programs {

/// What programs may hold.
struct Grammar {
    int statements = 7;             // of the outermost block, at most
    bool shaped_conditions = true;  // of if_, while_, break_ and continue_
    bool fresh_numbers = true;      // rand without a seed
    bool gates_of_integers = true;  // sigmoid of them
};

/// A program that the reference can run, and that says something: see Unsuitable.
Program generate(uint64_t seed, const Grammar& grammar = {});

}  // namespace firn::programs
