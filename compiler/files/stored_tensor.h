// Tensors as files have them, and the files: safetensors, npy, npz and idx.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

/// A tensor on the host: elements in storage form, but a bool in one byte.
struct StoredTensor {
    std::string name;  ///< empty where the file has none
    DType dtype;
    std::vector<int64_t> shape;
    std::vector<std::byte> bytes;  ///< row-major, little-endian
};

/// A tensor as files have it; computes and waits.
///
/// Example: `stored("x", zeros({2, 3})).shape` is `{2, 3}`.
StoredTensor stored(const std::string& name, const Tensor& x);
/// The tensor that was stored, in the current session. UserError: bytes that do not fill the shape.
///
/// Example: `from_stored(stored("x", tensor({true, false})))` is `{true, false}`.
Tensor from_stored(const StoredTensor& x);

/// @cond
/// The same of bytes that something else holds.
Tensor from_stored(std::span<const std::byte> bytes, const std::vector<int64_t>& shape,
                   DType dtype);
/// Bytes of one element in a file.
int file_bytes(DType dtype);
/// The number of elements; a negative number where there are more than a file could hold.
int64_t elements_of(const std::vector<int64_t>& shape);
/// @endcond

/// Tensors by their names as a `.safetensors` file: names, types and shapes as JSON, then the
/// elements. https://huggingface.co/docs/safetensors.
///
/// Here and below, reading a file that is damaged, cut short or of another kind is a UserError with
/// the reason. Writing leaves all of the new file, or the one before.
///
/// Example: after `write_safetensors("x.safetensors", {stored("u", tensor({1, 2}))});`
/// `from_stored(read_safetensors("x.safetensors")[0])` is `{1, 2}`.
/// @{
/// With a name, only that tensor is read; the others may have types that Firn does not support.
std::vector<StoredTensor> read_safetensors(const std::string& path);
StoredTensor read_safetensors(const std::string& path, const std::string& name);
void write_safetensors(const std::string& path, const std::vector<StoredTensor>& tensors);
/// @}

/// Writes and reads one tensor as a `.npy` file, numpy's format for one array, versions 1 to 3;
/// little-endian. Reads C and Fortran order, and ignores bytes behind the array, as numpy.load
/// does; writes C order. UserError: bf16, which numpy lacks.
///
/// Example: after `write_npy("s.npy", stored("", tensor({1, 2})));`
/// `from_stored(read_npy("s.npy"))` is `{1, 2}`.
/// @{
StoredTensor read_npy(const std::string& path);
void write_npy(const std::string& path, const StoredTensor& x);
/// @}

/// @cond
/// The same from and to the bytes of a file, of which messages call it `file`.
StoredTensor parse_npy(const std::vector<std::byte>& bytes, const std::string& file);
std::string npy_bytes(const StoredTensor& x);
/// @endcond

/// Tensors by their names as a `.npz` file, numpy's archive of arrays, below 4 GiB: read as
/// numpy.savez and savez_compressed write it, written as savez does. Reading one by its name
/// ignores the others.
///
/// Example: after `write_npz("s.npz", {stored("u", zeros({2})), stored("v", ones({3}))});`
/// `read_npz("s.npz")[1].name` is `"v"`.
/// @{
std::vector<StoredTensor> read_npz(const std::string& path);
StoredTensor read_npz(const std::string& path, const std::string& name);
void write_npz(const std::string& path, const std::vector<StoredTensor>& tensors);
/// @}

/// One tensor as an IDX file, in which MNIST comes: Y. LeCun et al.,
/// http://yann.lecun.com/exdb/mnist. Elements are u8, i8, i16, i32, f32 or f64; other types are a
/// UserError. Files that gzip made smaller are read too.
///
/// Example: after `write_idx("s.idx", stored("", tensor({1, 2})));`
/// `from_stored(read_idx("s.idx"))` is `{1, 2}`.
/// @{
StoredTensor read_idx(const std::string& path);
void write_idx(const std::string& path, const StoredTensor& x);
/// @}

/// @cond
/// The same from the bytes of a file, of which messages call it `file`.
StoredTensor parse_idx(const std::vector<std::byte>& bytes, const std::string& file);
/// @endcond

}  // namespace firn
