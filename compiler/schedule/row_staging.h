// Rows that one invocation walks: it keeps values that do not change along the row in registers.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

// The grid of such a kernel is a prefix of its result's dimensions. Each invocation walks the rest
// (`Round::inner` dimensions), and computes once what does not depend on it.

/// Returns whether the kernel of such a value computes a long reduction for each element.
/// Neighbours share what they read for these in tiles, which one invocation that walks them, or a
/// group that holds a row, does not.
bool reduces_long(Draft& draft, const Node& value);
/// Returns the number of grid indices at which an asking root's kernel evaluates a value.
double evaluated_at(const Draft& draft, const Ask& ask);
/// Returns the seconds if every asking root stages the value per row; 0 if that is impossible.
double stage_seconds(Draft& draft, const Node& node, const std::set<Ask>& asks);
/// Makes the kernels of the asking roots walk rows.
void stage(Draft& draft, const std::set<Ask>& asks);

}  // namespace firn
