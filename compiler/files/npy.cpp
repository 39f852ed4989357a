// numpy's format for one array: a magic word, a header that is a Python dictionary, the elements.
#include "compiler/files/npy.h"

#include <algorithm>
#include <cstring>

#include "compiler/files/file.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct NpyType {
    const char* name;  // without the order of bytes
    DType dtype;
};
constexpr NpyType kNpyTypes[] = {{"f4", f32}, {"f2", f16}, {"f8", f64}, {"i4", i32},
                                 {"u4", u32}, {"i8", i64}, {"u8", u64}, {"i2", i16},
                                 {"u2", u16}, {"i1", i8},  {"u1", u8},  {"b1", boolean}};

[[noreturn]] void npy_fault(const std::string& file, const std::string& why) {
    refuse("file " + file + ": is no whole npy file: " + why);
}

/// Reads the dictionary of a header, of which numpy writes three entries in any order.
class HeaderReader {
  public:
    HeaderReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    bool is_fortran() const { return fortran_; }

    StoredTensor read() {
        StoredTensor out;
        expect('{');
        while (!accept('}')) {
            const std::string key = string();
            expect(':');
            if (key == "descr")
                out.dtype = type();
            else if (key == "fortran_order")
                order();
            else if (key == "shape")
                out.shape = shape();
            else
                npy_fault(file_, "its header has an entry '" + key + "'");
            ++entries_;
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (entries_ != 3) npy_fault(file_, "its header has not the three entries of an array");
        return out;
    }

  private:
    void space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    }
    bool accept(char c) {
        space();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) npy_fault(file_, std::string("its header lacks a '") + c + "'");
    }
    std::string string() {
        const char quote = accept('"') ? '"' : '\'';
        if (quote == '\'') expect(quote);
        const size_t end = text_.find(quote, at_);
        if (end == text_.npos) npy_fault(file_, "its header has a text without an end");
        std::string out(text_.substr(at_, end - at_));
        at_ = end + 1;
        return out;
    }
    DType type() {
        space();
        if (at_ < text_.size() && text_[at_] == '[')
            refuse("file " + file_ + ": its elements are records " +
                   std::string(text_.substr(at_, text_.find(']', at_) - at_ + 1).substr(0, 80)) +
                   "; write one array a field");
        const std::string name = string();
        for (const NpyType& each : kNpyTypes)
            if (name.size() == 3 && name.substr(1) == each.name &&
                (name[0] == '<' || name[0] == '|' || (file_bytes(each.dtype) == 1)))
                return each.dtype;
        refuse("file " + file_ + ": its elements are '" + name +
               "'; write little-endian numbers or bools, as by x.astype('<f4')");
    }
    void order() {
        space();
        fortran_ = text_.substr(at_).starts_with("True");
        if (!fortran_ && !text_.substr(at_).starts_with("False"))
            npy_fault(file_, "its order is neither");
        at_ += fortran_ ? 4 : 5;
    }
    std::vector<int64_t> shape() {
        std::vector<int64_t> out;
        expect('(');
        while (!accept(')')) {
            space();
            int64_t size = 0;
            const size_t begin = at_;
            for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
                size = std::min<int64_t>(size * 10 + (text_[at_] - '0'), int64_t{1} << 52);
            if (begin == at_) npy_fault(file_, "its shape has an invalid size");
            out.push_back(size);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return out;
    }

    std::string_view text_;
    std::string file_;
    size_t at_ = 0;
    int entries_ = 0;
    bool fortran_ = false;
};

/// The elements with the last axis innermost, of elements with the first axis innermost. Squares of
/// these two axes are copied one by one, so that what a cache line holds is used while it is there.
std::vector<std::byte> in_c_order(const std::byte* from, const std::vector<int64_t>& shape,
                                  size_t width) {
    constexpr size_t kSquare = 32;
    const size_t rows = static_cast<size_t>(shape.front()),
                 columns = static_cast<size_t>(shape.back());
    size_t between = 1;  // elements of the axes between
    for (size_t axis = 1; axis + 1 < shape.size(); ++axis)
        between *= static_cast<size_t>(shape[axis]);
    std::vector<std::byte> out(rows * between * columns * width);
    for (size_t k = 0; k < between; ++k) {
        // The place of the axes between, in either order.
        size_t rest = k, turned = 0;
        for (size_t axis = 1; axis + 1 < shape.size(); ++axis) {
            const size_t size = static_cast<size_t>(shape[axis]);
            turned = turned * size + rest % size;
            rest /= size;
        }
        for (size_t row = 0; row < rows; row += kSquare)
            for (size_t column = 0; column < columns; column += kSquare)
                for (size_t r = row; r < std::min(rows, row + kSquare); ++r)
                    for (size_t c = column; c < std::min(columns, column + kSquare); ++c)
                        std::memcpy(&out[((r * between + turned) * columns + c) * width],
                                    from + ((c * between + k) * rows + r) * width, width);
    }
    return out;
}

}  // namespace

NpyHeader npy_header(std::string_view front, uint64_t bytes, const std::string& file) {
    if (!front.starts_with(kMagic) || front.size() < 12)
        npy_fault(file, "it does not begin as one");
    const int version = front[6];
    if (version < 1 || version > 3) npy_fault(file, "its version is " + std::to_string(version));
    const size_t width = version == 1 ? 2 : 4, begin = 8 + width;
    size_t header = 0;
    for (size_t k = 0; k < width; ++k)
        header |= static_cast<size_t>(static_cast<uint8_t>(front[8 + k])) << (8 * k);
    if (header > front.size() - begin) npy_fault(file, "its header is cut short");
    HeaderReader reader(front.substr(begin, header), file);
    const StoredTensor read = reader.read();
    NpyHeader out{read.dtype, read.shape, reader.is_fortran(), begin + header, 0};
    const int64_t elements = elements_of(out.shape);
    const uint64_t rest = bytes - out.begin;
    const auto element = static_cast<uint64_t>(file_bytes(out.dtype));
    // A file may hold further arrays behind this one; numpy.load ignores them too.
    if (elements < 0 || uint64_t(elements) * element > rest)
        npy_fault(file, "it has " + std::to_string(rest) + " bytes, which its shape does not fill");
    out.size = uint64_t(elements) * element;
    return out;
}

StoredTensor parse_npy(const std::vector<std::byte>& bytes, const std::string& file) {
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const NpyHeader header = npy_header(all, bytes.size(), file);
    StoredTensor out{"", header.dtype, header.shape, {}};
    const std::byte* first = bytes.data() + header.begin;
    if (header.is_fortran && out.shape.size() > 1 && header.size > 0)
        out.bytes = in_c_order(first, out.shape, static_cast<size_t>(file_bytes(out.dtype)));
    else
        out.bytes.assign(first, first + header.size);
    return out;
}

std::string npy_front(DType dtype, const std::vector<int64_t>& sizes) {
    std::string type, shape;
    for (const NpyType& each : kNpyTypes)
        if (each.dtype == dtype)
            type = (file_bytes(dtype) == 1 ? "|" : "<") + std::string(each.name);
    if (type.empty())
        refuse(std::string("numpy has no elements of type ") + dtype.name() +
               "; write x.as(f32), or a .safetensors file");
    for (int64_t size : sizes) shape += std::to_string(size) + (sizes.size() == 1 ? "," : ", ");
    if (sizes.size() > 1) shape.resize(shape.size() - 2);
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    while ((10 + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    std::string out(kMagic);
    out += {'\x01', '\x00', static_cast<char>(header.size() & 255),
            static_cast<char>(header.size() >> 8)};
    return out + header;
}

std::string npy_bytes(const StoredTensor& x) {
    return npy_front(x.dtype, x.shape)
        .append(reinterpret_cast<const char*>(x.bytes.data()), x.bytes.size());
}

StoredTensor read_npy(const std::string& path) { return parse_npy(read_file(path), path); }

void write_npy(const std::string& path, const StoredTensor& x) {
    const std::string front = npy_front(x.dtype, x.shape);
    write_file(path, {front, {reinterpret_cast<const char*>(x.bytes.data()), x.bytes.size()}});
}

}  // namespace firn
