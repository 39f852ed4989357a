// Reports the progress of a compile.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace firn {

/// The kernels of a program that the driver, or the target before it, has compiled; 0 of 0
/// while Firn's own passes run.
struct CompileProgress {
    std::string program;
    size_t done = 0, kernels = 0;
};
/// `compiling wave.cpp:12, 3 of 8 kernels`.
std::string text(const CompileProgress& progress);

/// An exception that it throws ends the compile and reaches the waiting caller.
using CompileWatch = std::function<void(const CompileProgress&)>;

}  // namespace firn
