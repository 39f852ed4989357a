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
/// Parses the header of a file of `bytes` bytes; `front` holds its first bytes, and messages call
/// it `file`. UserError where it is damaged or has elements that no tensor has.
NpyHeader npy_header(std::string_view front, uint64_t bytes, const std::string& file);

/// So many bytes of a file of version 1 have its header.
constexpr size_t kNpyFront = 65536 + 12;

/// Makes the header of a file. UserError where numpy lacks the type.
std::string npy_front(DType dtype, const std::vector<int64_t>& shape);

}  // namespace firn
