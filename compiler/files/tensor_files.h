// Tensors from files and into files: npy, npz, IDX and bare bytes.
#pragma once
#include <string>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

// A file that is damaged, cut short or of another kind is a UserError with the reason and the
// place. Writing leaves all of the new file, or the one before.

/// One tensor as a `.npy` file, as numpy.load and numpy.save.
Tensor load_npy(const std::string& path, SourceLine line = here());
void save_npy(const std::string& path, const Tensor& x, SourceLine line = here());

struct NamedTensor {
    std::string name;
    Tensor value;
};
/// Tensors by their names as a `.npz` file, as numpy.savez (not compressed):
/// `save_npz("state.npz", {{"u", u}, {"v", v}})`.
std::vector<NamedTensor> load_npz(const std::string& path, SourceLine line = here());
void save_npz(const std::string& path, const std::vector<NamedTensor>& tensors,
              SourceLine line = here());
/// One of them. UserError with the names that there are where there is no such.
Tensor load_npz(const std::string& path, const std::string& name, SourceLine line = here());

/// One tensor as an IDX file, the format of MNIST.
Tensor load_idx(const std::string& path, SourceLine line = here());
void save_idx(const std::string& path, const Tensor& x, SourceLine line = here());

/// Elements alone, row-major and little-endian, a bool in one byte: numpy's fromfile and tofile. At
/// most one size may be -1. UserError: bytes that do not fill the shape.
Tensor load_raw(const std::string& path, const Shape& shape, DType dtype = f32,
                SourceLine line = here());
void save_raw(const std::string& path, const Tensor& x, SourceLine line = here());

}  // namespace firn
