// Functions that are defined by kernel code, as functions of the module.
#pragma once
#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Writes the call of the function that a node is; returns an empty text if it is a basic
/// operation. Functions of halves are computed in f32 and rounded.
std::string call_function(IrRun& run, const KernelNode& n, const std::vector<std::string>& in,
                          bool varying);
/// Returns the definitions of the functions that were called, each with those that it calls, and
/// notes what they need from outside.
std::string function_definitions(const std::map<std::string, int>& called, const IrRun& by,
                                 std::set<std::string>& declared);

}  // namespace firn::native
