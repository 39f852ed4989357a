// Runs a program as a user would: over Tensor handles, lazily or compiled.
#pragma once
#include "compiler/frontend/session.h"
#include "tests/programs/arrays.h"

namespace firn::programs {

enum class Way : uint8_t {
    Lazy,      // without compile
    Compiled,  // for the sizes of the call
    Symbolic,  // sizes as symbols; called again with others
    Donated,   // compiled, arguments given away
    Repeated   // compiled, called with other data, and with the first again
};
constexpr int kWays = 5;
const char* name(Way way);

/// What the outputs must be, and what they are; `kept`: arguments that were not given away, after the calls.
struct Outcome {
    std::vector<Array> outputs, outputs_again, kept;
};

/// Runs in `session`, which gets the while limit of the reference. The second call takes the second arguments.
Outcome record(const Program& program, Way way, const Session& session);

}  // namespace firn::programs
