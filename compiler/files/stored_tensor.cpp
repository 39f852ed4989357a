// Tensors on their way to and from files.
#include "compiler/files/stored_tensor.h"

#include "compiler/frontend/create.h"
#include "compiler/frontend/realize.h"

namespace firn {

int file_bytes(DType dtype) { return dtype.is_bool() ? 1 : dtype.bytes(); }

int64_t elements_of(const std::vector<int64_t>& shape) {
    constexpr int64_t kMost = int64_t{1} << 48;
    int64_t product = 1;
    bool empty = false;
    for (int64_t size : shape) {
        if (size < 0 || size > kMost) return -1;
        empty |= size == 0;
        if (size > 0 && product > kMost / size) return -1;
        product *= size > 0 ? size : 1;
    }
    return empty ? 0 : product;
}

StoredTensor stored(const std::string& name, const Tensor& x) {
    StoredTensor out{name, x.dtype(), {}, bytes_of(x)};
    for (const Size& size : x.shape()) out.shape.push_back(size.constant());
    if (!out.dtype.is_bool()) return out;
    std::vector<std::byte> narrow;
    for (size_t k = 0; k < out.bytes.size(); k += 4) narrow.push_back(out.bytes[k]);
    out.bytes = std::move(narrow);
    return out;
}

Tensor from_stored(const StoredTensor& x) { return from_stored(x.bytes, x.shape, x.dtype); }

Tensor from_stored(std::span<const std::byte> bytes, const std::vector<int64_t>& sizes,
                   DType dtype) {
    const Shape shape(sizes.begin(), sizes.end());
    if (!dtype.is_bool()) return tensor_from_bytes(bytes, shape, dtype);
    std::vector<bool> wide;
    for (std::byte each : bytes) wide.push_back(each != std::byte{0});
    return tensor(wide, shape);
}

}  // namespace firn
