// Dispatches of a program, and the kernels that they share.
#pragma once
#include <vector>

#include "compiler/plan/mapped_kernels.h"
#include "compiler/plan/plan_run.h"

namespace firn {

/// With the largest values of sizes that only the device knows.
Work largest(const Work& work);

/// A dispatch that computes `outputs`, in the mapping that tuning found where it found one. Sizes
/// that only the device knows are bound.
void add_dispatch(PlanRun& run, MappedKernel made, const Work& work,
                  const std::vector<Ref>& outputs, std::vector<Step>& out);
/// A dispatch of placed code that is not mapped otherwise. `mapping`: what is said of it; `lines`:
/// the user's.
DispatchStep dispatch_of(PlanRun& run, KernelCode code, const Work& work,
                         const std::string& mapping = "",
                         const std::vector<std::string>& lines = {});

}  // namespace firn
