// A program's work, in numbers.
#pragma once
#include <cstdint>

namespace firn {

/// The work of a program at given sizes.
struct ProgramStats {
    int64_t kernels = 0;     // distinct kernels
    int64_t dispatches = 0;  // indirect ones too, whose work counts as its upper bound
    int64_t indirect_dispatches = 0;
    int64_t operations = 0, bytes_read = 0, bytes_written = 0;
    int64_t calls = 0;       // of the host, such as messages to other processes
    int64_t barriers = 0;    // pipeline barriers recorded
    int64_t guards = 0;      // conditions that keep stores or invocations inside their ranges
    int64_t back_edges = 0;  // the largest bound of a kernel
    int64_t peak_bytes = 0;  // temporaries after packing
    /// The last call of a function ran a program that assumes less of its sizes than it could,
    /// until the one that fits is compiled in the background.
    bool better_is_compiling = false;
};

}  // namespace firn
