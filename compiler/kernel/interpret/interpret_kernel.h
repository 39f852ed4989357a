// Runs Kernel code on the host and counts its work: checks the compiler without a driver.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/executor.h"

namespace firn {

/// The values of functions such as exp.
enum class FunctionValues : uint8_t {
    Defined,  // by their definitions (kernel/functions), with the bits of devices
    OfHost,   // by evaluate(), as the oracle has them: for tests that compare both exactly
};

struct KernelCounts {
    int64_t invocations = 0, operations = 0, loads = 0, stores = 0, bytes_read = 0,
            bytes_written = 0;
    int64_t bound_bytes_read = 0;  // of bytes_read, those that are not of the kernel's own memory
    int64_t back_edges = 0;        // the most that one invocation took
    int64_t matrix_products = 0;   // MatrixMulAdd, once for each subgroup
};
/// Runs one dispatch of placed code, before mapping (Grid ranges) or after (Group and Invocation).
/// buffers[k] is the memory of code.buffers[k]; an access outside it is an InternalError (a padded
/// tail up to 16 bytes is inside). `params` in the order of code.params. A whole workgroup runs in
/// lockstep, one lane per invocation with a mask, so that subgroup operations have their meaning; a
/// subgroup whose lanes do not all run at a subgroup operation, or request different matrices, is
/// an InternalError, and so is a loop that takes more iterations than its bound. `groups` stands
/// for code.groups: equal kernels are launched with groups of their own.
KernelCounts interpret_kernel(const KernelCode& code,
                              const std::vector<std::span<std::byte>>& buffers,
                              const std::vector<Scalar>& params, const SizeEnv& env,
                              uint32_t subgroup_size,
                              const std::optional<std::array<int64_t, 3>>& groups = std::nullopt,
                              FunctionValues functions = FunctionValues::Defined);

/// An executor on host memory that runs programs by interpret_kernel.
std::unique_ptr<Executor> make_interpreter(DeviceProfile profile = cpu_profile(),
                                           FunctionValues functions = FunctionValues::Defined);

}  // namespace firn
