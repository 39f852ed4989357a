// Loads, stores, atomics and the kernel's own memory as LLVM IR.
#pragma once
#include <cstdint>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// The largest constant that addresses take out of an index. An index is not negative, so that what
/// it was added to lies in an i32 as well: the sum of both in 64 bits is the index.
inline constexpr int64_t kLargestOffset = int64_t{1} << 30;

/// Where the memory of its own that a kernel has begins, by buffer, and its size: for one group. A
/// private array has an element of each lane side by side.
struct OwnMemory {
    std::vector<uint64_t> offsets;  // by buffer; of bound ones 0
    uint64_t bytes = 0;
};
OwnMemory own_memory(const KernelCode& code, int lanes);
/// Bytes of one element in memory.
int element_bytes(const KernelBuffer& buffer);

/// The type of the elements that a load gives, or a store takes.
DType element_of(const KernelCode& code, const KernelNode& n);
/// Returns whether the elements of a load or store are those of registers, of 4 bytes, and lie in a
/// memory that all lanes share.
bool has_words_in_common(const IrRun& run, const KernelNode& n);

/// Stores a vector, `value` with its type, of so many bytes to bound memory: past the caches where
/// the call and the processor are for it.
void store_vector(IrRun& run, const std::string& value, const std::string& place, int bytes,
                  int alignment);

void write_load(IrRun& run, NodeId id);
/// The vector of a load of such an element by each lane, wherever it lies.
std::string load_of_each_lane(IrRun& run, NodeId id);
void write_store(IrRun& run, NodeId id);
void write_atomic(IrRun& run, NodeId id);
/// An Array begins, for all lanes.
void write_array(IrRun& run, NodeId id);

}  // namespace firn::native
