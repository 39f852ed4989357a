// Adds up the statistics of excess work over all compilations of a test program or a benchmark.
#pragma once
#include <mutex>

#include "compiler/driver/excess_work.h"

namespace firn {

struct ExcessSum {
    std::mutex mutex;
    ExcessCensus census;  // guarded by it
};
inline ExcessSum& excess_sum() {
    static ExcessSum sum;
    return sum;
}

/// Counts compiles from now on.
inline void count_excess() {
    set_excess_report([](const ExcessCensus& of_one_compile) {
        const std::scoped_lock lock(excess_sum().mutex);
        add(excess_sum().census, of_one_compile);
    });
}

/// The statistics of the compiles so far.
inline ExcessCensus counted_excess() {
    const std::scoped_lock lock(excess_sum().mutex);
    return excess_sum().census;
}

}  // namespace firn
