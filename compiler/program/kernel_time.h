// How long a kernel took.
#pragma once
#include <cstdint>
#include <string>

namespace firn {

/// Time of one kernel on the device, averaged over its dispatches of the last profiled run.
struct KernelTime {
    std::string name;
    double milliseconds = 0;  // per dispatch
    int dispatches = 0;
    /// Tells the programs of an executor apart, whose kernels may have one name; 0: not known.
    int64_t program = 0;
};

}  // namespace firn
