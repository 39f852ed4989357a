// The beginning of a npy file, up to its elements; internal.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/program/dtype.h"

namespace firn {

struct NpyHeader {
    DType dtype;
    std::vector<int64_t> shape;
    bool is_fortran = false;
    uint64_t begin = 0, size = 0;  ///< the place of the elements, and their bytes
};
/// Of a file of `bytes` bytes, of which `front` has the first; messages call it `file`. UserError:
/// damaged, or elements that no tensor has.
NpyHeader npy_header(std::string_view front, uint64_t bytes, const std::string& file);

/// So many bytes of a file of version 1 have its header.
constexpr size_t kNpyFront = 65536 + 12;

/// What stands in front of the elements. UserError: a type that numpy has not.
std::string npy_front(DType dtype, const std::vector<int64_t>& shape);

}  // namespace firn
