// Estimates the data that kernels read from memory again because no cache holds it between two of
// them.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

/// Returns the seconds that all kernels which ask for a value in memory take to read it again: the
/// first of them reads it while it is written.
double streamed_seconds(const Draft& draft, const Node& node, const std::set<Ask>& asks);

/// Returns the seconds that the asking kernels, if each computes the value, take to read again the
/// inputs for which they have no other use: one kernel would read these in any case. The inputs in
/// memory are those that are there before any verdict, and those of the round before.
double streamed_seconds_of_inputs(Draft& draft, const Node& node, const std::set<Ask>& asks);

}  // namespace firn
