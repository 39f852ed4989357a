// Elements of memory, and their values as kernels use them, as LLVM IR.
#pragma once
#include <string>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Bytes of one element in memory.
int element_bytes(const KernelBuffer& buffer);

/// The type of an element in memory, as which it is loaded.
std::string memory_type(DType dtype);

/// The element of memory as a value of its type in kernels, and back: of one lane, or a vector of
/// all if it is `varying`.
std::string from_memory(IrRun& run, DType dtype, const std::string& raw, bool varying);
std::string to_memory(IrRun& run, DType dtype, const std::string& value, bool varying);

/// The type of the elements that a load gives, or a store takes.
DType element_of(const KernelCode& code, const KernelNode& n);
/// Returns whether the elements of a load or store are those of registers, of 4 bytes, and lie in a
/// memory that all lanes share.
bool has_words_in_common(const IrRun& run, const KernelNode& n);

}  // namespace firn::native
