// What the inspector asks those who know the compiler.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/program/compile_trace.h"
#include "compiler/program/program.h"

namespace firn {

/// What a kernel does in one call, counted and not measured.
struct KernelWork {
    std::string ranges;
    int64_t dispatches = 0, operations = 0, bytes_read = 0, bytes_written = 0;
    double least_milliseconds = 0;  // by the device's rates
};

/// Each may be missing: then the inspector does without.
struct InspectorTools {
    /// GLSL to valid SPIR-V. Throws UserError with a line `NUMBER: message` for every error.
    std::function<std::vector<uint32_t>(const std::string& glsl, const std::string& name)> compile;
    std::function<std::string(const std::vector<uint32_t>&)> disassemble;
    /// What every pass made of it, and which value is computed from which. Called by another
    /// thread. Throws UserError where nobody knows.
    std::function<CompileTrace(const Program&)> trace;
    /// By kernel of the program, at the sizes of a call.
    std::function<std::vector<KernelWork>(const Program&, const SizeEnv&)> count;
    /// Writes elements in storage form as a .npy file; UserError where it cannot.
    std::function<void(const std::string& path, DType dtype, const std::vector<int64_t>& shape,
                       std::vector<std::byte> bytes)>
        write_array;
};

}  // namespace firn
