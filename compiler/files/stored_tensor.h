// Tensors as files have them, and the files: safetensors, npy, npz and idx.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

/// A tensor on the host: elements in storage form, but a bool in one byte.
struct StoredTensor {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    std::vector<std::byte> bytes;
};

StoredTensor stored(const std::string& name, const Tensor& x);
Tensor from_stored(const StoredTensor& x);
/// Bytes of one element in a file.
int file_bytes(DType dtype);
/// The number of elements; a negative number where there are more than a file could hold.
int64_t elements_of(const std::vector<int64_t>& shape);

// Reading a file that is damaged, cut short or of another kind is a UserError with the reason.
// Writing leaves all of the new file, or the one before.

/// https://huggingface.co/docs/safetensors: names, types and shapes as JSON, then the elements.
std::vector<StoredTensor> read_safetensors(const std::string& path);
void write_safetensors(const std::string& path, const std::vector<StoredTensor>& tensors);

/// numpy's format for one array, versions 1 to 3; little-endian, in C order.
StoredTensor read_npy(const std::string& path);
void write_npy(const std::string& path, const StoredTensor& x);
/// The same from and to the bytes of a file, of which messages call it `file`.
StoredTensor parse_npy(const std::vector<std::byte>& bytes, const std::string& file);
std::string npy_bytes(const StoredTensor& x);

/// numpy's archive of arrays, as numpy.savez writes it: not compressed, below 4 GiB.
std::vector<StoredTensor> read_npz(const std::string& path);
void write_npz(const std::string& path, const std::vector<StoredTensor>& tensors);

/// IDX, in which MNIST comes: Y. LeCun et al., http://yann.lecun.com/exdb/mnist. Elements are u8,
/// i8, i16, i32, f32 or f64.
StoredTensor read_idx(const std::string& path);
void write_idx(const std::string& path, const StoredTensor& x);
/// The same from the bytes of a file, of which messages call it `file`.
StoredTensor parse_idx(const std::vector<std::byte>& bytes, const std::string& file);

}  // namespace firn
