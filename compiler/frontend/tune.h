// Searching faster kernels by running them.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/callback.h"

namespace firn {

/// The progress of a search.
struct TuneProgress {
    std::string kernel;              ///< the kernel's name, or "cuts" of the whole program
    size_t number = 0, kernels = 0;  ///< position in the order of time, from 1; 0: cuts
    int tried = 0;                   ///< its mappings, or cuts, tried so far
    double first_ms = 0,
           best_ms = 0;  ///< per dispatch or program: at first, and the best so far
    double seconds_left = 0;
};

/// The time limit of Function::tune(), and the tolerance for its results.
struct TuneOptions {
    double seconds = 30;  ///< the time limit; one mapping that was begun may end later
    /// Called after every mapping that was tried; false ends the search, as closing a window of
    /// this thread does, and the results so far are kept. Empty: a line of progress on stderr if
    /// that is a terminal. Windows show the progress in any case, and stay responsive.
    Callback<bool(const TuneProgress&)> progress;
    /// The largest accepted deviation of a float, in units of the effect of one rounding of each of
    /// its terms. Other types must be equal.
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
    double before_ms = 0, after_ms = 0;  ///< the time of all kernels of a call
    int tried = 0;                       ///< how many different programs were run
    std::vector<std::string> dropped;    ///< cuts that failed or gave other results, and why
};
/// The result of Function::tune().
struct TuneReport {
    TunedCuts cuts;
    std::vector<TunedKernel> kernels;  ///< the kernels that were searched, by time
    double seconds = 0;                ///< the time of the search
    bool complete = true;              ///< false: the time limit or the caller ended the search
    /// Returns the report as text: a row for the cuts and one for each kernel.
    std::string text() const;
};

}  // namespace firn
