// Kernels by hand as steps of a program.
#pragma once
#include <vector>

#include "compiler/lower/lower_run.h"

namespace firn {

/// Adds a kernel by hand. The tensors that it stores to start with their old values, in place if
/// these have no other use. `outputs`: its results that are used.
void add_by_hand(LowerRun& run, const std::vector<Ref>& outputs, std::vector<ListedStep>& out);

}  // namespace firn
