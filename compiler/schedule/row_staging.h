// Rows that one invocation walks, keeping in registers what does not change along them.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

// The grid of such a kernel is a prefix of its result's dimensions. Each invocation walks the rest
// (`Round::inner` dimensions), and computes once what does not depend on it.

/// Grid indices at which an asker's kernel evaluates a value.
double evaluated_at(const Draft& draft, const Ask& ask);
/// Seconds when every asker keeps the value per row; 0 where that is not possible.
double stage_seconds(const Draft& draft, const Node& node, const std::set<Ask>& asks);
/// Makes row kernels of the askers.
void stage(Draft& draft, const std::set<Ask>& asks);

}  // namespace firn
