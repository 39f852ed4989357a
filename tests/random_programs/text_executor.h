// An executor that runs kernels from their texts.
#pragma once
#include <memory>

#include "compiler/program/executor.h"

namespace firn::programs {

/// The kernel interpreter, given what parse_kernel() reads from each kernel's text. Throws where
/// the text of what was read is another one, or a kernel is placed otherwise.
std::unique_ptr<Executor> make_text_executor(const DeviceProfile& profile);

}  // namespace firn::programs
