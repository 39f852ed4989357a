// The time of a kernel.
#pragma once
#include <cstdint>
#include <string>

namespace firn {

/// Time of one kernel on the device, averaged over its dispatches of the last profiled run.
struct KernelTime {
    std::string name;
    double milliseconds = 0;  // per dispatch
    int dispatches = 0;
    /// Distinguishes the programs of an executor, whose kernels may share a name; 0: unknown.
    int64_t program = 0;
};

}  // namespace firn
