// Runs programs as programs in C do that link their object files.
#pragma once
#include <memory>

#include "compiler/program/executor.h"

namespace firn::programs {

/// An executor that makes an object file of every program, and calls its C function, by memory
/// without padding, on the thread that calls. Requires LLVM, and a linker that `cc` runs.
std::shared_ptr<Executor> make_ahead_executor();

}  // namespace firn::programs
