// Reports the verdict on each value with its reason, and the properties of each kernel, as data and
// as text.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/program/program.h"

namespace firn {

/// One kernel of a program at given sizes. The verdicts on values are Program::verdicts.
struct KernelReport {
    std::string name, ranges, mapping;  // mapping: empty where the user chose it
    bool tuned = false;
    int64_t dispatches =
        0;  // at these sizes; loops whose end only the data knows count all their iterations
    int64_t operations = 0, bytes_read = 0, bytes_written = 0;  // of all dispatches
    int64_t shared_bytes = 0,
            back_edges = 0;  // of a group, of an invocation (-1: only the data knows)
    /// Milliseconds of all dispatches: predicted from the device's rates in the profile, with
    /// arithmetic and memory accesses overlapping; and as measured, below 0 if they were not.
    double predicted_ms = 0, measured_ms = -1;
};

/// Returns a report on each kernel. `milliseconds`: the measured time of all dispatches of a kernel
/// in one run, by its name.
std::vector<KernelReport> kernel_reports(const Program& program, const SizeEnv& env,
                                         const std::map<std::string, double>& milliseconds = {});

/// Returns the report behind `Function::explain`: every value's verdict with its reason, the costs
/// that competed and the user's lines; every kernel; and, if `env` gives every size, the work of
/// the whole program.
std::string explain(const Program& program, const SizeEnv& env = {},
                    const std::map<std::string, double>& milliseconds = {});

}  // namespace firn
