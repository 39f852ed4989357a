// The combination of two values of a type, as LLVM IR.
#pragma once
#include "compiler/ir/op.h"
#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Combines two vectors of all lanes (two scalars) by the step of a reduction.
std::string combine(IrRun& run, Op step, DType dtype, const std::string& a, const std::string& b);
std::string combine_scalars(IrRun& run, Op step, DType dtype, const std::string& a,
                            const std::string& b);

}  // namespace firn::native
