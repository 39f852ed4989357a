// Kernel times of a run as a trace that chrome://tracing and Perfetto show.
#pragma once
#include <string>
#include <vector>

#include "compiler/program/executor.h"

namespace firn {

struct FrameTimes {
    int frame = 0;
    std::vector<KernelTime> kernels;
};

/// Frames one after the other, in each its kernels one after the other, as long as they took.
std::string trace_text(const std::vector<FrameTimes>& frames);
/// Writes a file whole or not at all. Throws UserError where it cannot be written.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace firn
