// Runs programs whose kernels are machine code of this processor.
#pragma once
#include <memory>

#include "compiler/program/executor.h"

namespace firn {

/// An executor that calls the kernels of programs, whose artefacts have the format kNativeFormat
/// (program/native_abi.h), on all cores that the process may use, or FIRN_THREADS. UserError where
/// that is no number of threads; a program with kernels in another format is one too.
std::unique_ptr<Executor> make_native_executor(DeviceProfile profile);

/// The same for this processor (host/processor.h), for programs from files: no compiler is needed.
std::unique_ptr<Executor> open_native_executor();

}  // namespace firn
