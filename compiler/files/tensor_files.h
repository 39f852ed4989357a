// Tensors from files and into files: npy, npz, safetensors, IDX and bare bytes.
#pragma once
#include <string>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

/// Reads and writes one tensor as a `.npy` file, with its type and shape, as numpy.load and
/// numpy.save do.
///
/// Here and below, a file that is damaged, cut short or of another kind is a UserError with the
/// reason and the place. Writing leaves all of the new file, or the one before. Saving computes and
/// waits. Elements in Fortran order are read; they are written in C order. UserError: bf16, which
/// numpy lacks; big-endian elements.
///
/// Example: after `save_npy("x.npy", tensor({1, 2, 3, 4}, {2, 2}));` `load_npy("x.npy")` is
/// `{{1, 2}, {3, 4}}`.
/// @{
Tensor load_npy(const std::string& path, SourceLine line = here());
void save_npy(const std::string& path, const Tensor& x, SourceLine line = here());
/// @}

/// A tensor with its name in a file.
struct NamedTensor {
    std::string name;
    Tensor value;
};
/// Tensors by their names as a `.npz` file, in the order in which they are there: read as
/// numpy.savez and savez_compressed write it, written as savez does. UserError: two of one name, an
/// archive of 4 GiB or more.
///
/// Example: after `save_npz("state.npz", {{"u", tensor({1, 2})}, {"v", tensor({3})}});`
/// `load_npz("state.npz")[1].name` is `"v"`.
/// @{
std::vector<NamedTensor> load_npz(const std::string& path, SourceLine line = here());
void save_npz(const std::string& path, const std::vector<NamedTensor>& tensors,
              SourceLine line = here());
/// @}

/// Reads one tensor of a `.npz` file; the others may have types that Firn lacks. UserError that
/// lists the names in the file if it has no such name.
///
/// Example: after `save_npz("state.npz", {{"u", tensor({1, 2})}, {"v", tensor({3})}});`
/// `load_npz("state.npz", "u")` is `{1, 2}`.
Tensor load_npz(const std::string& path, const std::string& name, SourceLine line = here());

/// Tensors by their names as a `.safetensors` file, in the order of its header; if one is read by
/// its name, the others may have types that Firn lacks. UserError: two tensors of one name, or none
/// of that name.
///
/// Example: after `save_safetensors("x.safetensors", {{"u", tensor({1, 2})}});`
/// `load_safetensors("x.safetensors", "u")` is `{1, 2}`.
/// @{
std::vector<NamedTensor> load_safetensors(const std::string& path, SourceLine line = here());
Tensor load_safetensors(const std::string& path, const std::string& name, SourceLine line = here());
void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      SourceLine line = here());
/// @}

/// Reads and writes one tensor as an IDX file, the format of MNIST: elements are u8, i8, i16, i32,
/// f32 or f64; other types are a UserError. Files compressed by gzip are read too.
///
/// Example: after `save_idx("x.idx", tensor({1, 2}));` `load_idx("x.idx")` is `{1, 2}`.
/// @{
Tensor load_idx(const std::string& path, SourceLine line = here());
void save_idx(const std::string& path, const Tensor& x, SourceLine line = here());
/// @}

/// Elements alone, row-major and little-endian, a bool in one byte: numpy's fromfile and tofile. At
/// most one size may be -1: as many as the file has. UserError: bytes that do not fill the shape.
///
/// Examples: after `save_raw("x", tensor({1, 2, 3, 4}));` `load_raw("x", {2, -1}, i32)` is
/// `{{1, 2}, {3, 4}}`, and after `save_raw("on", tensor({true, false}));`
/// `load_raw("on", {-1}, u8)` is `{1, 0}`.
/// @{
Tensor load_raw(const std::string& path, const Shape& shape, DType dtype = f32,
                SourceLine line = here());
void save_raw(const std::string& path, const Tensor& x, SourceLine line = here());
/// @}

}  // namespace firn
