// Searching faster kernels by running them.
#pragma once
#include <string>
#include <vector>

#include "compiler/program/callback.h"

namespace firn {

/// Where a search stands.
struct TuneProgress {
    std::string kernel;  ///< its name, or "cuts": where the whole program is cut into kernels
    size_t number = 0, kernels = 0;  ///< counted from 1, by time; 0: cuts
    int tried = 0;                   ///< mappings of it so far, or cuts
    double first_ms = 0,
           best_ms = 0;  ///< per dispatch, or of the program: as it was, and the best found
    double seconds_left = 0;
};

/// How long Function::tune() searches, and what it may give.
struct TuneOptions {
    double seconds = 30;  ///< the search ends then; at most one mapping later
    /// Called after every mapping that was tried; false ends the search, as the end of a window of
    /// this thread does, and what was found so far is kept. Empty: a line of progress on stderr
    /// where that is a terminal. Windows show it in any case, and answer meanwhile.
    Callback<bool(const TuneProgress&)> progress;
    /// By how much more than one rounding of each of its terms explains a float may differ, element
    /// by element; what is no float must be equal.
    double tolerance = 16;
};

/// What the search of one kernel's mappings found.
struct TunedKernel {
    std::string name, before, after;     ///< mappings as text
    double before_ms = 0, after_ms = 0;  ///< per dispatch
    int dispatches = 0, tried = 0;
    std::vector<std::string> dropped;  ///< mappings that failed or gave other results, and why
};
/// What the search of where the program is cut into kernels found.
struct TunedCuts {
    std::string before, after;  ///< what the costs behind the verdicts are multiplied by, as text
    double before_ms = 0, after_ms = 0;  ///< of all kernels of a call
    int tried = 0;                       ///< programs that differ
    std::vector<std::string> dropped;    ///< cuts that failed or gave other results, and why
};
/// What Function::tune() found.
struct TuneReport {
    TunedCuts cuts;
    std::vector<TunedKernel> kernels;  ///< those that were searched, by time
    double seconds = 0;                ///< that it took
    bool complete = true;              ///< nothing was cut short by time or by the caller
    /// The same for people: a row for the cuts and one for each kernel.
    std::string text() const;
};

}  // namespace firn
