// What kernels read from memory again, because no cache holds it from one to the next.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

/// Seconds that all kernels which ask for a value in memory take to read it again: the first of
/// them reads it as it is written.
double streamed_seconds(const Draft& draft, const Node& node, const std::set<Ask>& asks);

/// Seconds that they take, where each computes the value, to read again what it comes from and they
/// have no other use for: one kernel would read that in any case. What it comes from is known of
/// values that are in memory before any verdict, and of others by the round before.
double streamed_seconds_of_inputs(Draft& draft, const Node& node, const std::set<Ask>& asks);

}  // namespace firn
