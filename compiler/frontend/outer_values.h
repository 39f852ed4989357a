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

/// A derivative inside recorded loops, with region arguments replaced by the values from outside
/// that they stand for: a region argument itself depends on nothing. Only if ys depend on xs there.
struct AsOutside {
    Differentiated of;
    std::vector<const Node*> xs, between;  // the arguments that are replaced: `xs`, and others
    size_t first = 0;                      // the scope of the outermost of the loops
    bool differs() const { return !xs.empty(); }
};
AsOutside as_outside(SessionState& session, const Differentiated& of, SourceLine line);

/// Returns a bool that says, once the loops have closed, whether the derivative is the outer one.
/// It is if the loops assign none of the arguments; else these are values of their own in each
/// iteration, and the derivative is the inner one. `inside`: there is an inner one.
Ref chosen_outside(SessionState& session, const AsOutside& outside, bool inside, SourceLine line);

/// Makes that decision for a loop that closes. UserError if neither derivative is right.
void settle_gradients(SessionState& session, Scope& loop);

/// Returns whether x is a value of one invocation of the kernel by hand that is being recorded.
bool is_of_invocation(const SessionState& session, const Ref& x);

/// Returns a note for the error about a missing gradient if y depends on carried values of a loop;
/// else an empty text.
std::string carried_by_loops(const SessionState& session, const Node& y);

}  // namespace firn
