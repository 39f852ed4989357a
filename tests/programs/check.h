// Random programs against the reference: what fails is shrunk, and shown as C++.
#pragma once
#include <functional>

#include "tests/programs/generate.h"
#include "tests/programs/record.h"

namespace firn::programs {

using MakeSession = std::function<Session()>;

/// Why the program gives something else than the reference this way; empty: it does not.
std::string failure_of(const Program& program, Way way, const Session& session);

/// Runs the programs of `count` seeds from `first` on, each in the way that its seed chooses
/// (unless FIRN_RANDOM_SEED and FIRN_RANDOM_COUNT are set), and fails with the first that fails,
/// shrunk. With FIRN_RANDOM_ALL=n it goes on: all that fail are named, and the first n shrunk.
void expect_programs(const MakeSession& make_session, uint64_t first, uint64_t count,
                     const Grammar& grammar = {});

}  // namespace firn::programs
