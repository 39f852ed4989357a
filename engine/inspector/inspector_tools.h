// Functions of the compiler that the inspector is given, since it does not include the compiler.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/program/compile_trace.h"
#include "compiler/program/program.h"

namespace firn {

/// The operations and bytes of a kernel in one call, counted from its code.
struct KernelWork {
    std::string ranges;
    int64_t dispatches = 0, operations = 0, bytes_read = 0, bytes_written = 0;
    double least_milliseconds = 0;  // lower bound by the device's rates
};

/// Each function may be missing; the inspector then leaves out the parts that need it.
struct InspectorTools {
    /// Compiles GLSL to valid SPIR-V. Throws UserError with a line `NUMBER: message` for every
    /// error.
    std::function<std::vector<uint32_t>(const std::string& glsl, const std::string& name)> compile;
    std::function<std::string(const std::vector<uint32_t>&)> disassemble;
    /// Returns the program's text after every pass, and the edges between values and their sources.
    /// It is called on another thread. Throws UserError if the program keeps no source.
    std::function<CompileTrace(const Program&)> trace;
    /// Counts the work of each kernel of the program, at the sizes of a call.
    std::function<std::vector<KernelWork>(const Program&, const SizeEnv&)> count;
    /// Writes elements in storage form as a .npy file; UserError if that fails.
    std::function<void(const std::string& path, DType dtype, const std::vector<int64_t>& shape,
                       std::vector<std::byte> bytes)>
        write_array;
};

}  // namespace firn
