// Runs a program as a user would: over Tensor handles, lazily or compiled.
#pragma once
#include "compiler/frontend/session.h"
#include "tests/programs/calls.h"

namespace firn::programs {

/// The results of the calls, and the arguments after the call that were not donated.
struct Outcome {
    std::vector<Array> outputs, kept;
};

/// Makes the calls in `session`, which gets the while limit of the reference.
std::vector<Outcome> record(const Program& program, Way way, const std::vector<Call>& calls,
                            const Session& session);

}  // namespace firn::programs
