// Computing what was recorded: lazy tensors become buffers.
#pragma once
#include <cstddef>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

class Memory;

/// Computes the tensors together, in one program, unless they are already; they then refer to
/// memory. An error while something is being recorded.
void realize(const std::vector<Tensor*>& tensors, SourceLine line = here());
void realize(std::vector<Tensor>& tensors, SourceLine line = here());
template <std::same_as<Tensor>... More>
void realize(Tensor& first, More&... more) {
    realize(std::vector<Tensor*>{&first, &more...});
}

/// The elements in storage form (see DType::bytes), row-major, as tensor_from_bytes takes them;
/// computes and waits.
std::vector<std::byte> bytes_of(const Tensor& x, SourceLine line = here());

/// The memory of a tensor, computed where it was not: what a window shows, or a host binds.
struct TensorMemory {
    SharedPtr<Memory> memory;
    DType dtype;
    std::vector<int64_t> shape;
};
TensorMemory memory_of(const Tensor& x, SourceLine line = here());
/// A tensor over memory that the current session's executor gave; nothing is copied, so nobody may
/// write to it any more.
Tensor tensor_over(SharedPtr<Memory> memory, DType dtype, const Shape& shape,
                   SourceLine line = here());

}  // namespace firn
