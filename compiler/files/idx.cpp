// IDX, the format of MNIST: two zeros, a type, a rank, big-endian sizes, big-endian elements.
#include <algorithm>
#include <optional>

#include "compiler/files/file.h"
#include "compiler/files/inflate.h"
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

/// Converts between the byte order of the file and the host's, which is little-endian.
void reverse_elements(std::vector<std::byte>& bytes, int width) {
    if (width == 1) return;
    for (auto at = bytes.begin(); at != bytes.end(); at += width) std::reverse(at, at + width);
}

bool is_gzip(const std::vector<std::byte>& bytes) {
    return bytes.size() >= 2 && std::to_integer<int>(bytes[0]) == 0x1f &&
           std::to_integer<int>(bytes[1]) == 0x8b;
}

/// The header of an IDX file: the type and the sizes of its elements.
struct IdxHeader {
    DType dtype;
    std::vector<int64_t> shape;
    uint64_t begin = 0, size = 0;  // the place of the elements, and their bytes
};

IdxHeader header_of(const std::vector<std::byte>& bytes, const std::string& file) {
    const auto at = [&](size_t k) { return std::to_integer<int>(bytes[k]); };
    if (bytes.size() < 4 || at(0) != 0 || at(1) != 0) idx_fault(file, "it does not begin as one");
    const auto type = std::find_if(std::begin(kIdxTypes), std::end(kIdxTypes),
                                   [&](const TypeCode& each) { return each.code == at(2); });
    if (type == std::end(kIdxTypes))
        idx_fault(file, "its elements are of type " + std::to_string(at(2)));
    const size_t rank = size_t(at(3));
    IdxHeader out{type->dtype, {}, 4 + 4 * rank, 0};
    if (bytes.size() < out.begin) idx_fault(file, "its sizes are cut short");
    for (size_t axis = 0; axis < rank; ++axis) {
        int64_t size = 0;
        for (size_t k = 0; k < 4; ++k) size = size << 8 | at(4 + 4 * axis + k);
        out.shape.push_back(size);
    }
    const int64_t elements = elements_of(out.shape);
    if (elements < 0) idx_fault(file, "it has more elements than a file could hold");
    out.size = uint64_t(elements) * uint64_t(out.dtype.bytes());
    return out;
}

/// Decompresses a gzip file, no further than to the end of the elements that its header names.
std::vector<std::byte> unpacked(const std::vector<std::byte>& bytes, const std::string& file) {
    constexpr uint64_t kMostHeader = 4 + 4 * 255;
    const std::string_view packed(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::optional<std::vector<std::byte>> out = inflated(packed, kMostHeader, Deflated::Gzip);
    if (out) {
        const IdxHeader header = header_of(*out, file);
        out = inflated(packed, header.begin + header.size, Deflated::Gzip);
    }
    if (!out) idx_fault(file, "its gzip data is damaged");
    return std::move(*out);
}

}  // namespace

StoredTensor parse_idx(const std::vector<std::byte>& bytes, const std::string& file) {
    if (is_gzip(bytes)) return parse_idx(unpacked(bytes, file), file);
    const IdxHeader header = header_of(bytes, file);
    const uint64_t rest = bytes.size() - header.begin;
    if (header.size > rest)
        idx_fault(file, "it has " + std::to_string(rest) + " bytes, which its sizes do not fill");
    StoredTensor out{"", header.dtype, header.shape, {}};
    const auto begin = bytes.begin() + static_cast<long>(header.begin);
    out.bytes.assign(begin, begin + static_cast<long>(header.size));
    reverse_elements(out.bytes, header.dtype.bytes());
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
