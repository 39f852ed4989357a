// Runs programs as programs in C do that link their object files.
#pragma once
#include <memory>

#include "compiler/program/executor.h"
#include "tests/machines.h"

namespace firn::programs {

/// An executor that makes an object file of every program for a machine, and calls its C function,
/// by memory without padding, on the thread that calls; where the machine has a runner, in a
/// program of its own. Requires LLVM, and the machine's tools.
std::shared_ptr<Executor> make_ahead_executor(const Machine& machine);

}  // namespace firn::programs
