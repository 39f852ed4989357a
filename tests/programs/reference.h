// Runs a program on plain arrays, statement by statement: its meaning, without any recording.
#pragma once
#include "tests/programs/arrays.h"

namespace firn::programs {

/// A while_ without max_steps that goes on for longer than kWhileLimit.
struct Endless : std::runtime_error {
    using std::runtime_error::runtime_error;
};
constexpr int64_t kWhileLimit = 50;

/// The arguments' values at these sizes, from the number `first` of each on.
std::vector<Array> argument_values(const Program& program, const Sizes& sizes, size_t first = 0);

/// The outputs. Throws Unsuitable or Endless.
std::vector<Array> reference(const Program& program, const std::vector<Array>& arguments,
                             const Sizes& sizes);

}  // namespace firn::programs
