// Values of the lowered kernel in the copies of its body that an invocation has.
#pragma once
#include <cstddef>

namespace firn {

struct KernelBuffer;
struct MappingRun;

/// The new node of an old one in a copy, built where it is asked for the first time. Its loops are
/// built, too, and what they read from shared memory.
int copy_value(MappingRun& run, int node, size_t copy);

/// The new kernel's buffer for one of the lowered kernel's, in the form that the profile binds it
/// in.
int bound_buffer(MappingRun& run, const KernelBuffer& buffer, bool written, int width);

}  // namespace firn
