// Checks of accesses against their memory, for kernels of kCheckedFormat (program/native_abi.h).
#pragma once
#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// An access of the kernel as it is written: `width` neighbouring elements from `index` + `behind`
/// on, of each lane.
struct CheckedAccess {
    NodeId node;  // a Load, Store or Atomic
    int buffer = -1;
    IrValue index;  // i32
    int64_t behind = 0;
    int width = 1;
};

/// Names the sizes of all buffers (IrRun::elements), whose memory is named.
void read_sizes(IrRun& run);

/// Writes a branch to the end of the kernel, which notes the fault, where an element is outside.
/// The condition `wanted` (an i1; empty: true) says whether the elements are used: a load may read
/// others as far as native_abi.h lets it.
void check_elements(IrRun& run, const CheckedAccess& access, const std::string& wanted = {});
/// The same for the elements of each lane. `wanted` (an i1 vector; empty: all) are the lanes that
/// use theirs; the others access memory as well if `others_read`.
void check_lanes(IrRun& run, const CheckedAccess& access, const std::string& wanted,
                 bool others_read);
/// The same for an element of a buffer that the kernel loads of its own accord, at an i64.
void check_own_load(IrRun& run, int buffer, const std::string& index);
/// The same for bytes of the values that are kept between loops (kept.h), from the byte `at` (i64)
/// on.
void check_kept(IrRun& run, const std::string& at, int64_t bytes);

/// Writes the block before the end of the function, to which a thread comes that found a fault.
void write_fault_exit(IrRun& run);
/// The function that notes a fault.
std::string fault_function();

}  // namespace firn::native
