// IDX, the format of MNIST: two zeros, a type, a rank, big-endian sizes, big-endian elements.
#include <algorithm>

#include "compiler/files/file.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

struct TypeCode {
    int code;
    DType dtype;
};
constexpr TypeCode kIdxTypes[] = {{0x08, u8},  {0x09, i8},  {0x0b, i16},
                                  {0x0c, i32}, {0x0d, f32}, {0x0e, f64}};

[[noreturn]] void idx_fault(const std::string& file, const std::string& why) {
    refuse("file " + file + ": is no whole IDX file: " + why);
}

/// From the order of the file to the host's, which is little-endian, and back.
void reverse_elements(std::vector<std::byte>& bytes, int width) {
    if (width == 1) return;
    for (auto at = bytes.begin(); at != bytes.end(); at += width) std::reverse(at, at + width);
}

}  // namespace

StoredTensor parse_idx(const std::vector<std::byte>& bytes, const std::string& file) {
    const auto at = [&](size_t k) { return std::to_integer<int>(bytes[k]); };
    if (bytes.size() >= 2 && at(0) == 0x1f && at(1) == 0x8b)
        refuse("file " + file + ": is compressed; unpack it by gunzip first");
    if (bytes.size() < 4 || at(0) != 0 || at(1) != 0) idx_fault(file, "it does not begin as one");
    const auto type = std::find_if(std::begin(kIdxTypes), std::end(kIdxTypes),
                                   [&](const TypeCode& each) { return each.code == at(2); });
    if (type == std::end(kIdxTypes))
        idx_fault(file, "its elements are of type " + std::to_string(at(2)));
    StoredTensor out{"", type->dtype, {}, {}};
    const size_t rank = size_t(at(3)), begin = 4 + 4 * rank;
    if (bytes.size() < begin) idx_fault(file, "its sizes are cut short");
    for (size_t axis = 0; axis < rank; ++axis) {
        int64_t size = 0;
        for (size_t k = 0; k < 4; ++k) size = size << 8 | at(4 + 4 * axis + k);
        out.shape.push_back(size);
    }
    const int64_t elements = elements_of(out.shape);
    if (elements < 0 || uint64_t(elements) * uint64_t(type->dtype.bytes()) != bytes.size() - begin)
        idx_fault(file, "it has " + std::to_string(bytes.size() - begin) +
                            " bytes, which its sizes do not fill");
    out.bytes.assign(bytes.begin() + static_cast<long>(begin), bytes.end());
    reverse_elements(out.bytes, type->dtype.bytes());
    return out;
}

StoredTensor read_idx(const std::string& path) { return parse_idx(read_file(path), path); }

void write_idx(const std::string& path, const StoredTensor& x) {
    const auto type = std::find_if(std::begin(kIdxTypes), std::end(kIdxTypes),
                                   [&](const TypeCode& each) { return each.dtype == x.dtype; });
    if (type == std::end(kIdxTypes))
        refuse("file " + path + ": IDX has no elements of type " + x.dtype.name() +
               "; it has u8, i8, i16, i32, f32 and f64");
    std::string header{'\0', '\0', static_cast<char>(type->code),
                       static_cast<char>(x.shape.size())};
    for (int64_t size : x.shape) {
        if (size >> 32)
            refuse("file " + path + ": IDX has no sizes of 2^32 or more, such as " +
                   std::to_string(size));
        for (int shift = 24; shift >= 0; shift -= 8)
            header += static_cast<char>(size >> shift & 255);
    }
    std::vector<std::byte> bytes = x.bytes;
    reverse_elements(bytes, x.dtype.bytes());
    write_file(path, {header, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
}

}  // namespace firn
