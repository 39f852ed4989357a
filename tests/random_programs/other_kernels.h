// Executors that run other kernels than their programs have.
#pragma once
#include <memory>
#include <string>

#include "compiler/program/executor.h"

namespace firn::programs {

/// Makes a kernel interpreter that runs the kernels which parse_kernel() reads from each kernel's
/// text. Throws if their text differs, or if a kernel is placed otherwise.
std::shared_ptr<Executor> make_text_executor(const DeviceProfile& profile);

/// Returns a kernel interpreter that gets each kernel as a row of kernel_passes() from `map` on
/// leaves it, or, for `ready`, before it is mapped. Kernels that cannot be mapped anew (of sizes
/// that only the device knows, several in one, by hand) are not changed.
std::shared_ptr<Executor> make_pass_executor(const DeviceProfile& profile, const std::string& pass);

}  // namespace firn::programs
