// Rewrites kernels whose buffers have become parts of larger ones.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Parts begin at multiples of so many elements: blocks of four stay aligned, and parts share no
/// line of a cache.
inline constexpr int64_t kPartAlignment = 64;

/// The place of the elements of a buffer that a kernel binds: in a part of another buffer.
struct PartOf {
    int whole = -1;  // buffer of the program; -1: where they were
    Size whole_elements;
    Size stride;                   // elements from a part to the next
    std::vector<int64_t> numbers;  // of the part that each copy of the kernel has
};

/// Makes so many copies of the placed kernel, each with its own `parts`, by place in its buffers.
/// Several copies run side by side along the last dimension, of which the kernel has one group. The
/// begin of a part is a constant, or a parameter (`by_parameter`, and for sizes that only the call
/// knows). Takes no kernel whose sizes the device knows.
KernelCode in_larger_buffers(const KernelCode& code, const std::vector<PartOf>& parts,
                             size_t copies, bool by_parameter);

/// The dimension along which a kernel has one group, the last of them; -1: none.
int free_dimension(const KernelCode& code);

}  // namespace firn
