// How far a compile is, for whoever waits for it.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace firn {

/// Kernels that the driver, or the compiler before it, has made of a program.
struct CompileProgress {
    std::string program;
    size_t done = 0, kernels = 0;
};
using CompileWatch = std::function<void(const CompileProgress&)>;

}  // namespace firn
