// Counts how often each step of a program runs, without going through long loops iteration by
// iteration.
#pragma once
#include <functional>

#include "compiler/program/walk_steps.h"

namespace firn {

/// Visits the steps of a program, each with the number of times that it runs. A program that can be
/// flat is visited step by step. Else a loop whose iterations do the same work is visited once; in
/// one whose iterations differ, some stand for those around them, and barriers are those of a first
/// iteration. Loops whose end depends on data: see flatten.
void count_steps(const Program& program, const SizeEnv& env,
                 const std::function<void(const FlatStep&, int64_t times)>& visit);
/// sum + times * count, or the largest integer.
int64_t add_times(int64_t sum, int64_t times, int64_t count);

/// Returns the time of a dispatch by the rates of the profile, if arithmetic and memory overlap.
double predicted_seconds(const Work& work, const SizeEnv& env, const DeviceProfile& profile);

}  // namespace firn
