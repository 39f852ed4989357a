// How far a compile is, for whoever waits for it.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace firn {

/// Kernels that the driver, or the shader compiler before it, has made of a program; 0 of 0 while
/// Firn's own passes find out what the kernels are.
struct CompileProgress {
    std::string program;
    size_t done = 0, kernels = 0;
};
/// `compiling wave.cpp:12, 3 of 8 kernels`.
std::string text(const CompileProgress& progress);

/// What it throws ends the compile, and arrives at who waits for it.
using CompileWatch = std::function<void(const CompileProgress&)>;

}  // namespace firn
