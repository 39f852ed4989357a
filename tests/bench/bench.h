// Contests between Firn and hand-written GLSL for the same work, on the same executor, in the same
// run.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/program/executor.h"

namespace firn::bench {

struct Contest {
    std::string name;
    /// One run each; may return before it is done. `plain` is the GLSL that one would write first:
    /// one element per invocation, storage buffers only.
    std::function<void()> firn, hand_written, plain;
    /// The largest difference of the others' results from the hand-written one's, relative to the
    /// largest value.
    std::function<double()> difference;
    /// What any program for this work must read and write at least.
    double bytes = 0;
    double tolerance = 1e-5;
};

/// The contests of each file.
Contest wave_contest(Executor& executor);
Contest chain_contest(Executor& executor);
Contest sum_contest(Executor& executor);
Contest rowsum_contest(Executor& executor);
Contest softmax_contest(Executor& executor);
Contest n_body_contest(Executor& executor);
Contest n_body_pairs_contest(Executor& executor);
Contest mandelbrot_contest(Executor& executor);
Contest path_contest(Executor& executor);

/// Milliseconds of one run: medians over rounds in which all sides take turns.
struct Outcome {
    double firn = 0, hand_written = 0, plain = 0;
};
/// Checks the results first; throws InternalError where they differ by more than the tolerance.
Outcome measure(Executor& executor, const Contest& contest, int rounds);

/// max |a - b| / max |b|.
double relative_difference(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace firn::bench
