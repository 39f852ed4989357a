// Values of f16 and bf16, which kernels hold as f32, as LLVM IR.
#pragma once
#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// The types of 16 bits as which a half lies in memory: `half` for f16, `i16` for bf16.
const char* half_type(DType half);
/// The f32 of a half in memory.
std::string widened_half(IrRun& run, DType half, const std::string& value, bool varying);
/// The half in memory of an f32 that is one.
std::string narrowed_half(IrRun& run, DType half, const std::string& value, bool varying);
/// An f32 rounded to the nearest value of a half type.
std::string rounded_to_half(IrRun& run, const std::string& value, DType half, bool varying);

}  // namespace firn::native
