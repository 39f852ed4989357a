// Results written over arguments that the caller gives away.
#pragma once
#include <vector>

#include "compiler/program/program.h"

namespace firn {

/// Puts results into the buffers of arguments with `donated` set, where nobody can see the
/// difference: the argument has the result's type and size, and every step that reads it comes
/// before the first that writes the result; or that step copies the one into the other; or it is a
/// kernel in which every invocation reads only the elements that it then writes, through the form
/// that it writes, however its points are mapped. A call that fails keeps its arguments, so nothing
/// is written over them before the last loop that may end it. Requires: the program's kernels are
/// mapped. Ensures: such a result names the argument's buffer. After add_results of the plan, since
/// the last use of an argument is known only then.
void reuse_arguments(Program& program, const std::vector<bool>& donated);

}  // namespace firn
