// The types and functions of LLVM IR that are the same in each program.
#pragma once
#include <string>

#include "compiler/host/processor.h"

namespace firn::ahead {

/// The arguments of a kernel, the host's struct, and a kernel with its arguments.
std::string fixed_types();
/// The functions that the driver calls, beside those of sizes and numbers.
std::string fixed_functions(Architecture architecture);

}  // namespace firn::ahead
