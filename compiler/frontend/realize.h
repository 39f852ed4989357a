// Computes recorded values: lazy tensors become buffers.
#pragma once
#include <cstddef>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

class Memory;

/// Computes the tensors together, in one program, unless they are already; they then refer to
/// memory. Does not wait for the device. UserError while something is being recorded.
///
/// Example: after `Tensor x = arange(3) * 2, y = x + 1; realize(x, y);` `y` is `{1, 3, 5}`.
/// @{
void realize(const std::vector<Tensor*>& tensors, SourceLine line = here());
void realize(std::vector<Tensor>& tensors, SourceLine line = here());
template <std::same_as<Tensor>... More>
void realize(Tensor& first, More&... more) {
    realize(std::vector<Tensor*>{&first, &more...});
}
/// @}

/// @cond
/// Computes all of them together; `leaves` depend on nothing from then on, as for the assignments
/// of a training step.
void realize_leaves(const std::vector<Tensor*>& values, const std::vector<Tensor*>& leaves,
                    SourceLine line);
/// @endcond

/// The elements in storage form (see DType::bytes), row-major, as tensor_from_bytes takes them;
/// computes and waits.
///
/// Example: `bytes_of(tensor({1, 2})).size()` is `8`.
std::vector<std::byte> bytes_of(const Tensor& x, SourceLine line = here());

/// The memory of a tensor, computed if it was not yet: for a window that shows it, or a host that
/// binds it.
struct TensorMemory {
    SharedPtr<Memory> memory;  ///< at least DType::bytes() for each element, row-major
    DType dtype;
    std::vector<int64_t> shape;
};
/// Computes the tensor where that was not done, and gives its memory.
///
/// Example: `memory_of(zeros({2, 3})).shape` is `{2, 3}`.
TensorMemory memory_of(const Tensor& x, SourceLine line = here());
/// A tensor over memory of the current session's executor; nothing is copied, so the memory must
/// not be written to any more. UserError if the memory is smaller than the elements, rounded up to
/// 16 bytes.
///
/// Example: after `TensorMemory m = memory_of(arange(4) + 1);`
/// `tensor_over(m.memory, m.dtype, {2, 2})` is `{{1, 2}, {3, 4}}`.
Tensor tensor_over(SharedPtr<Memory> memory, DType dtype, const Shape& shape,
                   SourceLine line = here());

}  // namespace firn
