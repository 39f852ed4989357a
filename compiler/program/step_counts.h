// How often each step of a program runs, without going through long loops turn by turn.
#pragma once
#include <functional>

#include "compiler/program/walk.h"

namespace firn {

/// Visits the steps of a program with the number of times that they run like this. A program that
/// can be flat is visited step by step. Else a loop whose iterations do the same work is visited
/// once; of one whose iterations differ, some stand for those around them, and barriers are those
/// of a first iteration. Of loops whose end only the data knows: see flatten.
void count_steps(const Program& program, const SizeEnv& env,
                 const std::function<void(const FlatStep&, int64_t times)>& visit);
/// sum + times * count, or the largest integer.
int64_t add_times(int64_t sum, int64_t times, int64_t count);

/// What a dispatch takes by the rates of the profile, where arithmetic and memory overlap.
double predicted_seconds(const Work& work, const SizeEnv& env, const DeviceProfile& profile);

}  // namespace firn
