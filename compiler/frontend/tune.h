// Searching faster kernels by running them.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace firn {

/// Where a search stands.
struct TuneProgress {
    std::string kernel;                        // its name
    size_t number = 0, kernels = 0;            // counted from 1, by time
    int tried = 0;                             // mappings of it so far
    double first_ms = 0, best_ms = 0;          // per dispatch: as it was, and the best found
    double seconds_left = 0;
};

struct TuneOptions {
    double seconds = 30;                       // the search ends then; at most one mapping later
    /// Called after every mapping that was tried; false ends the search, and what was found so far is kept. Empty: a
    /// line of progress on stderr where that is a terminal.
    std::function<bool(const TuneProgress&)> progress;
    double tolerance = 1e-4;                   // of floats, relative to the largest of their tensor; others must be equal
};

struct TunedKernel {
    std::string name, before, after;           // mappings as text
    double before_ms = 0, after_ms = 0;        // per dispatch
    int dispatches = 0, tried = 0;
    std::vector<std::string> dropped;          // mappings that the driver refused or that gave other results, and why
};
struct TuneReport {
    std::vector<TunedKernel> kernels;          // those that were searched, by time
    double seconds = 0;
    bool complete = true;                      // no kernel was cut short by time or by the caller
    std::string text() const;
};

}  // namespace firn
