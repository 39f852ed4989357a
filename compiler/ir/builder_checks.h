// Helpers that the builder's files share: errors with the user's line, guards, and fitting shapes.
#pragma once
#include <string>

#include "compiler/ir/builder.h"

namespace firn {

/// Throws UserError with `message` and the builder's line.
[[noreturn]] void fail(const Builder& b, const std::string& message);
/// `LessEqual` as users write it: `less_equal`.
std::string spoken_name(Op op);
/// Sizes that must be equal: nothing where they are, UserError where they never are, else a guard.
void require_equal(const Builder& b, const Size& left, const Size& right,
                   const std::string& message);
/// The same for left <= right.
void require_less_equal(const Builder& b, const Size& left, const Size& right,
                        const std::string& message);
/// Axis counted from the end where it is negative; UserError outside.
int checked_axis(const Builder& b, int axis, int rank, const std::string& what);
/// An index as i32. One of 64 bits that is outside of i32 is outside of every tensor, and stays so:
/// it becomes the nearest i32.
Ref as_index(const Builder& b, const Ref& index);
/// Replaces dimension-wise guarded sizes by `shape`'s own, and repeats dimensions of size 1.
Ref fit(const Builder& b, const Ref& x, const Shape& shape, const std::string& what);

}  // namespace firn
