// The places that a load, store or atomic accesses, as LLVM IR.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/target/native/checks.h"
#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// The largest constant that addresses take out of an index. An index is not negative, so that what
/// it was added to lies in an i32 as well: the sum of both in 64 bits is the index.
inline constexpr int64_t kLargestOffset = int64_t{1} << 30;

/// An access by the lanes that run: the place of each lane, in elements of its memory.
struct Access {
    const KernelBuffer& buffer;
    std::string pointer;  // of the buffer
    DType dtype;          // of elements as the kernel uses them
    IrValue index;        // i32 before it is widened; of a private array, of the lane's element
    int width = 1;
    int64_t behind = 0;  // elements from the index on
    NodeId node = {};
};

/// The access of a node to elements that the kernel uses as `used`.
Access access_of(IrRun& run, NodeId id, DType used);

/// The access of `width` elements from an index of its own on, for checks.
CheckedAccess checked(const IrRun& run, const Access& a, const IrValue& index, int width);

/// The address of the element `index` (i32), or of one so many behind it.
std::string address(IrRun& run, const Access& a, const std::string& index, int64_t more = 0);
/// The end of an instruction that says how addresses are aligned.
std::string alignment(const Access& a);

/// The index of each lane where a lane that does not run may not read: of element 0 then.
IrValue safe_index(IrRun& run, const Access& a);

/// The processor reads and writes the places of a vector at once.
bool gathers(const IrRun& run, const Access& a);

/// The address of the buffer from which indices count for the part `k` of every lane's elements.
std::string base_behind(IrRun& run, const Access& a, int k);
/// The places of the part `k` of every lane's elements, as a vector.
std::string places(IrRun& run, const Access& a, int k);

/// The lanes that run.
std::string running(IrRun& run);

}  // namespace firn::native
