// Times of what all processes do together.
#pragma once
#include <firn/mpi.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace firn {

/// The milliseconds of some work that all processes begin at one time.
template <class Work>
double milliseconds(const Communicator& all, const Work& work) {
    all.barrier();
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    return took.count();
}

inline double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

}  // namespace firn
