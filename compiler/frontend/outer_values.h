// Gradients inside of recorded loops and kernels, and values from outside of them; internal.
#pragma once
#include <string>
#include <vector>

#include "compiler/frontend/record.h"

namespace firn {

/// A value and the tensors by which it is differentiated.
struct Differentiated {
    Ref y;
    std::vector<Ref> xs;
};

/// Inside of loops that are being recorded, values from outside stand as arguments, which depend on
/// nothing: the same derivative with those arguments as they are outside through which y depends on
/// xs. The loops remember these, see check_held(). A value that a loop has assigned already stays
/// an argument: the derivative is at this iteration's.
Differentiated as_outside(SessionState& session, Differentiated of, SourceLine line);

/// UserError where a loop that closes assigns a value that as_outside() took as it was before it.
void check_held(const Scope& loop);

/// x is a value of one invocation of the kernel by hand that is being recorded.
bool is_of_invocation(const SessionState& session, const Ref& x);

/// Where y depends on what a loop carries: says so, to be added to why there is no gradient; empty
/// elsewhere.
std::string carried_by_loops(const SessionState& session, const Node& y);

}  // namespace firn
