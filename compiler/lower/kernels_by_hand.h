// Kernels by hand as steps of a program.
#pragma once
#include <vector>

#include "compiler/lower/lower_run.h"

namespace firn {

/// The tensors that a kernel by hand stores to start as what they were, in place where nobody else
/// needs that; then it is run. `outputs`: its results that somebody asks for.
void add_by_hand(LowerRun& run, const std::vector<Ref>& outputs, std::vector<ListedStep>& out);

}  // namespace firn
