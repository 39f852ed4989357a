// The function that runs the steps of a program, as LLVM IR.
#pragma once
#include <string>
#include <vector>

#include "compiler/host/processor.h"
#include "compiler/program/program.h"
#include "compiler/target/native/ahead/interface.h"
#include "compiler/target/native/ahead/places.h"

namespace firn::ahead {

/// Returns a module that defines the functions of the header. `modules` are the numbers of the
/// kernels' modules, see joined_kernel_name().
std::string driver_module(const Program& program, const Interface& interface, const Places& places,
                          const std::vector<size_t>& modules, Architecture architecture);

}  // namespace firn::ahead
