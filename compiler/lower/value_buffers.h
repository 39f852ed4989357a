// The buffers that the values of a program live in.
#pragma once
#include <string>
#include <vector>

#include "compiler/lower/lower_run.h"

namespace firn {

/// A buffer of the program's own for a tensor of that shape (as large as it can be), and its place.
int add_buffer(LowerRun& run, const std::string& name, DType dtype, const Shape& shape);
/// Returns the buffer of a value; the first call adds it.
int value_buffer(LowerRun& run, const Node& node);

/// A kernel or a loop of the body of `loop` (null: the top) computes the value anew in every
/// iteration.
bool made_in(LowerRun& run, const Node& value, const Node* loop);
/// Returns whether `user`, the only use of `old`, may write over it: its loop computes `old` anew
/// in every iteration (no loop: once), or carries it.
bool may_write_over(LowerRun& run, const Node& old, const Node& user);
/// The buffer of a version of `old`, which lives in buffer `from`: in place where it may be, else a
/// copy.
int version_buffer(LowerRun& run, const Node& version, const Node& old, int from,
                   std::vector<ListedStep>& out);

}  // namespace firn
