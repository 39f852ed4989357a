// The numbers of a PLY file, element by element.
#include "compiler/files/ply.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/files/file.h"
#include "compiler/files/ply_header.h"
#include "compiler/files/stored_mesh.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

/// Gives one number after the other.
class PlyNumbers {
  public:
    PlyNumbers(const std::string& path, PlyForm form, std::string_view rest)
        : path_(path), form_(form), rest_(rest) {}

    /// UserError where the rest of the file cannot hold `count` elements of which each has at least
    /// `numbers` numbers of at least `bytes` bytes together: memory is asked for by what is there.
    void check(const PlyElement& element) const {
        uint64_t least = 0;
        for (const PlyProperty& each : element.properties)
            least +=
                form_ == PlyForm::Text ? 2 : uint64_t(file_bytes(each.count.value_or(each.dtype)));
        // The last number of a text needs no blank behind it.
        if (least > 0 && element.count > (rest_.size() + 1) / least) cut_short(element);
    }
    uint64_t rest() const { return rest_.size(); }

    Scalar next(const PlyElement& element, DType dtype) {
        if (form_ == PlyForm::Text) return next_text(element, dtype);
        const auto width = static_cast<size_t>(file_bytes(dtype));
        if (rest_.size() < width) cut_short(element);
        std::array<char, 8> bytes;
        std::memcpy(bytes.data(), rest_.data(), width);
        if (form_ == PlyForm::BigEndian) std::reverse(bytes.begin(), bytes.begin() + width);
        rest_.remove_prefix(width);
        return load_scalar(dtype, bytes.data());
    }

    /// Throws a UserError.
    [[noreturn]] void cut_short(const PlyElement& element) const {
        ply_fault(path_, "it ends before its " + std::to_string(element.count) + " elements '" +
                             element.name + "' do");
    }

  private:
    Scalar next_text(const PlyElement& element, DType dtype) {
        const size_t begin = std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size());
        rest_.remove_prefix(begin);
        if (rest_.empty()) cut_short(element);
        const std::string_view all = rest_.substr(0, rest_.find_first_of(" \t\r\n"));
        rest_.remove_prefix(all.size());
        const std::string_view word = all.starts_with('+') ? all.substr(1) : all;
        const char *first = word.data(), *last = first + word.size();
        if (dtype == f32) {
            float value = 0;
            const auto [end, error] = std::from_chars(first, last, value);
            if (error == std::errc{} && end == last) return scalar_float(double(value), f32);
        }
        double value = 0;
        const auto [end, error] = std::from_chars(first, last, value);
        if (error != std::errc{} || end != last)
            ply_fault(path_, "of an element '" + element.name + "' one number is '" +
                                 std::string(all.substr(0, 40)) + "'");
        const Scalar out = scalar_float(value, f64).to(dtype);
        if (!dtype.is_float() && out.as_double() != value)
            ply_fault(path_, "of an element '" + element.name + "' one number is " +
                                 std::string(all.substr(0, 40)) + ", which is no " +
                                 ply_type_name(dtype));
        return out;
    }

    std::string path_;
    PlyForm form_;
    std::string_view rest_;
};

/// Elements with numbers of their own alone, by the order of their properties.
std::vector<StoredTensor> read_columns(const std::string& path, const PlyElement& element,
                                       PlyNumbers& numbers) {
    std::vector<StoredTensor> out;
    for (const PlyProperty& each : element.properties) {
        if (each.count)
            ply_fault(path, "'" + element.name + "' has a list '" + each.name +
                                "', and points have numbers alone; leave it out where the file "
                                "is written");
        out.push_back({each.name, each.dtype, {static_cast<int64_t>(element.count)}, {}});
    }
    numbers.check(element);
    for (StoredTensor& each : out)
        each.bytes.resize(element.count * static_cast<size_t>(file_bytes(each.dtype)));
    if (out.empty()) return out;
    for (uint64_t row = 0; row < element.count; ++row)
        for (StoredTensor& each : out)
            store_scalar(numbers.next(element, each.dtype),
                         &each.bytes[row * static_cast<size_t>(file_bytes(each.dtype))]);
    return out;
}

/// The length of a list that is next, none longer than the rest of the file.
uint64_t next_length(const std::string& path, const PlyElement& element,
                     const PlyProperty& property, PlyNumbers& numbers) {
    const int64_t length = numbers.next(element, *property.count).as_int();
    if (length < 0)
        ply_fault(path,
                  "a list '" + property.name + "' has " + std::to_string(length) + " numbers");
    if (uint64_t(length) > numbers.rest()) numbers.cut_short(element);
    return uint64_t(length);
}

void skip_element(const std::string& path, const PlyElement& element, PlyNumbers& numbers) {
    numbers.check(element);
    if (element.properties.empty()) return;
    for (uint64_t row = 0; row < element.count; ++row)
        for (const PlyProperty& each : element.properties) {
            uint64_t length = each.count ? next_length(path, element, each, numbers) : 1;
            for (; length > 0; --length) numbers.next(element, each.dtype);
        }
}

/// A polygon becomes a fan of triangles around its first corner.
void add_fan(const std::vector<int32_t>& corners, std::vector<int32_t>& triangles) {
    for (size_t k = 2; k < corners.size(); ++k)
        triangles.insert(triangles.end(), {corners[0], corners[k - 1], corners[k]});
}

bool is_corners(const PlyProperty& property) {
    return property.count && (property.name == "vertex_indices" || property.name == "vertex_index");
}

void read_faces(const std::string& path, const PlyElement& element, uint64_t points,
                PlyNumbers& numbers, std::vector<int32_t>& triangles) {
    numbers.check(element);
    if (element.count > 0 &&
        std::none_of(element.properties.begin(), element.properties.end(), is_corners))
        ply_fault(path, "its faces have no list 'vertex_indices'");
    std::vector<int32_t> corners;
    for (uint64_t row = 0; row < element.count; ++row)
        for (const PlyProperty& each : element.properties) {
            uint64_t length = each.count ? next_length(path, element, each, numbers) : 1;
            if (!is_corners(each)) {
                for (; length > 0; --length) numbers.next(element, each.dtype);
                continue;
            }
            if (length < 3)
                ply_fault(path, "face " + std::to_string(row) + " has " + std::to_string(length) +
                                    " corners, and a triangle has 3");
            corners.clear();
            for (; length > 0; --length) {
                const double corner = numbers.next(element, each.dtype).as_double();
                if (!(corner >= 0 && corner < double(points)))
                    ply_fault(path, "face " + std::to_string(row) +
                                        " has a corner that is none of "
                                        "the " +
                                        std::to_string(points) + " points");
                corners.push_back(static_cast<int32_t>(corner));
            }
            add_fan(corners, triangles);
        }
}

/// The properties of one part of a mesh, by each of the names that programs give them.
struct PlyPart {
    std::vector<float> StoredMesh::*values;
    std::array<const char*, 4> names;
};
const PlyPart kPlyParts[] = {
    {&StoredMesh::positions, {"x", "y", "z", nullptr}},
    {&StoredMesh::normals, {"nx", "ny", "nz", nullptr}},
    {&StoredMesh::colours, {"red", "green", "blue", "alpha"}},
    {&StoredMesh::colours, {"red", "green", "blue", nullptr}},
    {&StoredMesh::texture_coordinates, {"s", "t", nullptr, nullptr}},
    {&StoredMesh::texture_coordinates, {"u", "v", nullptr, nullptr}},
    {&StoredMesh::texture_coordinates, {"texture_u", "texture_v", nullptr, nullptr}},
};

std::vector<const char*> names_of(const PlyPart& part) {
    std::vector<const char*> out;
    for (const char* name : part.names)
        if (name) out.push_back(name);
    return out;
}

/// Takes the columns of a part out of `columns` where all of them are there.
void take_part(const PlyPart& part, std::vector<StoredTensor>& columns, StoredMesh& mesh) {
    if (!(mesh.*part.values).empty()) return;
    const std::vector<const char*> names = names_of(part);
    std::vector<StoredTensor> taken;
    for (const char* name : names)
        for (const StoredTensor& each : columns)
            if (each.name == name) taken.push_back(each);
    if (taken.size() != names.size()) return;
    const bool colours = part.values == &StoredMesh::colours;
    std::vector<float>& out = mesh.*part.values;
    out.reserve(mesh.points * taken.size());
    for (size_t row = 0; row < mesh.points; ++row)
        for (const StoredTensor& each : taken) {
            const double value =
                load_scalar(each.dtype, &each.bytes[row * size_t(file_bytes(each.dtype))])
                    .as_double();
            const double whole = !colours || each.dtype.is_float()
                                     ? 1
                                     : std::ldexp(1.0, 8 * file_bytes(each.dtype)) - 1;
            out.push_back(static_cast<float>(value / whole));
        }
    if (colours) mesh.colour_channels = taken.size();
    std::erase_if(columns, [&](const StoredTensor& each) {
        return std::find(names.begin(), names.end(), each.name) != names.end();
    });
}

StoredMesh read_ply(const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const PlyHeader header = parse_ply_header(path, file);
    PlyNumbers numbers(path, header.form, file.substr(header.bytes));
    StoredMesh out;
    uint64_t points = 0;
    for (const PlyElement& each : header.elements)
        if (each.name == "vertex") points = each.count;
    if (points > uint64_t(std::numeric_limits<int32_t>::max()))
        ply_fault(path, "it has " + std::to_string(points) + " points, more than i32 counts");
    out.points = points;
    std::vector<StoredTensor> columns;
    for (const PlyElement& each : header.elements) {
        if (each.name == "vertex") {
            columns = read_columns(path, each, numbers);
        } else if (each.name == "face") {
            out.has_triangles = true;
            read_faces(path, each, points, numbers, out.triangles);
        } else if (each.name == "tristrips") {
            ply_fault(path, "it has triangle strips; write it with an element 'face'");
        } else {
            skip_element(path, each, numbers);
        }
    }
    for (const char* axis : {"x", "y", "z"})
        if (std::none_of(columns.begin(), columns.end(),
                         [&](const StoredTensor& each) { return each.name == axis; }))
            ply_fault(path, std::string("its points have no '") + axis + "'");
    for (const PlyPart& each : kPlyParts) take_part(each, columns, out);
    out.attributes = std::move(columns);
    return out;
}

/// A column that is written: its name, and where its numbers lie.
struct PlyColumn {
    std::string name;
    DType dtype;
    const std::byte* first;
    size_t stride;
};

void add_columns(std::initializer_list<const char*> names, const std::vector<float>& values,
                 std::vector<PlyColumn>& out) {
    size_t k = 0;
    for (const char* name : names)
        out.push_back({name, f32, reinterpret_cast<const std::byte*>(values.data() + k++),
                       names.size() * sizeof(float)});
}

bool is_part_of_mesh(const std::string& name) {
    for (const PlyPart& part : kPlyParts)
        for (const char* each : names_of(part))
            if (name == each) return true;
    return false;
}

void check_attribute(const std::string& path, const StoredTensor& each) {
    const auto refuse_attribute = [&](const std::string& why) {
        refuse("file " + path + ": the attribute '" + each.name + "' " + why);
    };
    if (!ply_type_name(each.dtype))
        refuse_attribute(std::string("has elements of type ") + each.dtype.name() +
                         ", which PLY has not; write .as(f32), or .as(i32)");
    if (each.name.empty() ||
        std::any_of(each.name.begin(), each.name.end(), [](char c) { return c >= 0 && c <= ' '; }))
        refuse_attribute("has a name that PLY cannot hold; use letters, digits and _");
    if (is_part_of_mesh(each.name))
        refuse_attribute("has the name of a part of the mesh; give it another one");
}

void append_number(std::string& out, DType dtype, const std::byte* at, bool text) {
    if (!text) {
        out.append(reinterpret_cast<const char*>(at), static_cast<size_t>(file_bytes(dtype)));
        return;
    }
    const Scalar value = load_scalar(dtype, at);
    std::array<char, 40> digits;
    char *first = digits.data(), *last = first + digits.size();
    const std::to_chars_result end = dtype == f32   ? std::to_chars(first, last, float(value.f))
                                     : dtype == f64 ? std::to_chars(first, last, value.f)
                                                    : std::to_chars(first, last, value.i);
    out.append(first, end.ptr);
}

}  // namespace

Mesh load_ply(const std::string& path, SourceLine line) {
    LineScope at(line);
    return from_stored_mesh(read_ply(path));
}

void save_ply(const std::string& path, const Mesh& mesh, const SavePlyOptions& options,
              SourceLine line) {
    LineScope at(line);
    const StoredMesh from = stored_mesh(path, mesh);
    std::vector<uint8_t> colours;
    for (float each : from.colours) colours.push_back(colour_byte(each));
    std::vector<PlyColumn> columns;
    add_columns({"x", "y", "z"}, from.positions, columns);
    if (!from.normals.empty()) add_columns({"nx", "ny", "nz"}, from.normals, columns);
    if (!from.texture_coordinates.empty())
        add_columns({"s", "t"}, from.texture_coordinates, columns);
    const char* const channels[] = {"red", "green", "blue", "alpha"};
    for (size_t k = 0; k < from.colour_channels; ++k)
        columns.push_back({channels[k], u8, reinterpret_cast<const std::byte*>(colours.data() + k),
                           from.colour_channels});
    for (const StoredTensor& each : from.attributes) {
        check_attribute(path, each);
        columns.push_back({each.name, each.dtype, each.bytes.data(),
                           static_cast<size_t>(file_bytes(each.dtype))});
    }
    std::string header = std::string("ply\nformat ") +
                         (options.text ? "ascii" : "binary_little_endian") +
                         " 1.0\nelement vertex " + std::to_string(from.points) + '\n';
    for (const PlyColumn& each : columns)
        header += std::string("property ") + ply_type_name(each.dtype) + ' ' + each.name + '\n';
    if (from.has_triangles)
        header += "element face " + std::to_string(from.triangles.size() / 3) +
                  "\nproperty list uchar int vertex_indices\n";
    header += "end_header\n";
    std::string body;
    for (size_t row = 0; row < from.points; ++row)
        for (const PlyColumn& each : columns) {
            append_number(body, each.dtype, each.first + row * each.stride, options.text);
            if (options.text) body += &each == &columns.back() ? '\n' : ' ';
        }
    for (size_t k = 0; k < from.triangles.size(); ++k) {
        if (k % 3 == 0) body += options.text ? '3' : '\3';
        if (options.text) body += ' ';
        append_number(body, i32, reinterpret_cast<const std::byte*>(&from.triangles[k]),
                      options.text);
        if (options.text && k % 3 == 2) body += '\n';
    }
    write_file(path, {header, body});
}

}  // namespace firn
