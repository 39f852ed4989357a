// Searching faster kernels by running them.
#pragma once
#include <string>
#include <vector>

#include "compiler/program/callback.h"

namespace firn {

/// The progress of a search.
struct TuneProgress {
    std::string kernel;  ///< its name, or "cuts": where the whole program is cut into kernels
    size_t number = 0, kernels = 0;  ///< counted from 1, by time; 0: cuts
    int tried = 0;                   ///< mappings of it so far, or cuts
    double first_ms = 0,
           best_ms = 0;  ///< per dispatch, or of the program: as it was, and the best found
    double seconds_left = 0;
};

/// The time limit of Function::tune(), and the tolerance for its results.
struct TuneOptions {
    double seconds = 30;  ///< the search ends then; at most one mapping later
    /// Called after every mapping that was tried; false ends the search, as closing a window of
    /// this thread does, and the results so far are kept. Empty: a line of progress on stderr if
    /// that is a terminal. Windows show the progress in any case, and stay responsive.
    Callback<bool(const TuneProgress&)> progress;
    /// How many times the effect of one rounding of each of its terms a float may differ by,
    /// element by element; elements that are no floats must be equal.
    double tolerance = 16;
};

/// The result of the search for one kernel's mapping.
struct TunedKernel {
    std::string name, before, after;     ///< mappings as text
    double before_ms = 0, after_ms = 0;  ///< per dispatch
    int dispatches = 0, tried = 0;
    std::vector<std::string> dropped;  ///< mappings that failed or gave other results, and why
};
/// The result of the search for the program's cuts.
struct TunedCuts {
    std::string before, after;           ///< the factors of the costs behind the verdicts, as text
    double before_ms = 0, after_ms = 0;  ///< of all kernels of a call
    int tried = 0;                       ///< programs that differ
    std::vector<std::string> dropped;    ///< cuts that failed or gave other results, and why
};
/// The result of Function::tune().
struct TuneReport {
    TunedCuts cuts;
    std::vector<TunedKernel> kernels;  ///< those that were searched, by time
    double seconds = 0;                ///< that it took
    bool complete = true;              ///< nothing was cut short by time or by the caller
    /// The same for people: a row for the cuts and one for each kernel.
    std::string text() const;
};

}  // namespace firn
