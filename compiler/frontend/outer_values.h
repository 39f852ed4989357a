// Gradients inside of recorded loops and kernels, and values from outside of them; internal.
#pragma once
#include <string>
#include <vector>

#include "compiler/frontend/record.h"

namespace firn {

/// Values and the tensors by which they are differentiated.
struct Differentiated {
    std::vector<Ref> ys;
    std::vector<Ref> xs;
};

/// Inside of loops that are being recorded, values from outside stand as arguments, which depend on
/// nothing. The same derivative with arguments as they are outside, where ys depend on xs there.
struct AsOutside {
    Differentiated of;
    std::vector<const Node*> xs, between;  // the arguments that are replaced: xs, and others
    size_t first = 0;                      // the outermost of the loops
    bool differs() const { return !xs.empty(); }
};
AsOutside as_outside(SessionState& session, const Differentiated& of, SourceLine line);

/// A bool that says, when the loops have closed, whether the derivative is the one outside. It is
/// where they assign none of the arguments; where they do, these are values of their own in each
/// iteration, and the derivative is the one inside. `inside`: there is one.
Ref chosen_outside(SessionState& session, const AsOutside& outside, bool inside, SourceLine line);

/// Decides that for a loop that closes. UserError where neither derivative is right.
void settle_gradients(SessionState& session, Scope& loop);

/// x is a value of one invocation of the kernel by hand that is being recorded.
bool is_of_invocation(const SessionState& session, const Ref& x);

/// Returns a note for the error about a missing gradient if y depends on carried values of a loop;
/// else an empty text.
std::string carried_by_loops(const SessionState& session, const Node& y);

}  // namespace firn
