// Values of the lowered kernel in the copies of its body that an invocation has.
#pragma once
#include <cstddef>
#include <cstdint>

#include "compiler/kernel/ids.h"

namespace firn {

struct KernelBuffer;
struct MappingRun;

/// Returns the new node of an old one in a copy; builds it at the first call, together with the
/// loops that it needs and their reads of shared memory.
NodeId copy_value(MappingRun& run, NodeId node, size_t copy);

/// The index of an element, or of a block of several; in a copy that may lie behind the grid's end
/// the nearest one inside.
NodeId inside(MappingRun& run, const KernelBuffer& buffer, NodeId index, int64_t width = 1);

/// The new kernel's buffer for one of the lowered kernel's, in the form that the profile binds it
/// in.
int bound_buffer(MappingRun& run, const KernelBuffer& buffer, bool written, int width);

}  // namespace firn
