// Tensors by name in HDF5 files, where Firn was built with the library.
#pragma once
#include <string>
#include <vector>

#include "compiler/files/tensor_files.h"

namespace firn {

/// True where Firn was built with HDF5 (libhdf5-dev was there when it was configured). Otherwise
/// load_hdf5 and save_hdf5 are a UserError that says so.
///
/// Example: after `if (has_hdf5()) save_hdf5("h.h5", {{"u", tensor({1, 2})}});` `1` is `1`.
bool has_hdf5();

/// Data sets of an HDF5 file, each of its own type and shape, as h5py.File(path)[name][()]. Groups
/// are part of a name: "run/speed". Reading one by its name does not look at the others. Integers
/// and floats of every order of bytes, halves, and bools as h5py has them are read; chunks and
/// filters are those that the library knows. The library runs in a process of its own, which a
/// forged file may break: see compiler/files.md.
///
/// UserError: a file that is damaged or of another kind, or that breaks the library; no such data
/// set, with the names that there are; elements of another type (text, records, complex numbers);
/// more elements than memory holds; no HDF5 in this build.
///
/// Example: after `if (has_hdf5()) save_hdf5("a.h5", {{"run/u", tensor({1, 2})}});`
/// `(has_hdf5() ? load_hdf5("a.h5", "run/u") : tensor({1, 2}))` is `{1, 2}`.
/// @{
Tensor load_hdf5(const std::string& path, const std::string& name, SourceLine line = here());
std::vector<NamedTensor> load_hdf5(const std::string& path, SourceLine line = here());
/// @}

/// The layout of data sets in an HDF5 file.
struct SaveHdf5Options {
    /// The chunks of each data set of this rank that has elements, which a reader may take one by
    /// one. Empty: one piece or, if `deflate` is above 0, chunks of one slice of the first axis.
    std::vector<int64_t> chunks = {};
    int deflate = 0;  ///< by zlib, from 0 (not at all) to 9
};
/// Writes tensors as data sets of a new file, whole or not at all; groups in their names are made.
/// The file is put together in memory. UserError: two of one name, or a name that is a group of
/// another one; bf16, which other programs do not know; chunks that are larger than the tensor; no
/// HDF5 in this build.
///
/// Example: after `if (has_hdf5()) save_hdf5("b.h5", {{"u", zeros({4, 4})}}, {.chunks = {2, 2}});`
/// `(has_hdf5() ? load_hdf5("b.h5", "u") : zeros({4, 4})).shape()` is `[4, 4]`.
void save_hdf5(const std::string& path, const std::vector<NamedTensor>& tensors,
               const SaveHdf5Options& options = {}, SourceLine line = here());

}  // namespace firn
