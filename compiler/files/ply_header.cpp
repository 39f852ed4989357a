// The header of a PLY file, a line per property.
#include "compiler/files/ply_header.h"

#include <charconv>

#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

struct PlyType {
    const char* name;
    const char* other_name;
    DType dtype;
};
constexpr PlyType kPlyTypes[] = {{"char", "int8", i8},      {"uchar", "uint8", u8},
                                 {"short", "int16", i16},   {"ushort", "uint16", u16},
                                 {"int", "int32", i32},     {"uint", "uint32", u32},
                                 {"float", "float32", f32}, {"double", "float64", f64}};

DType ply_type(const std::string& path, std::string_view name) {
    for (const PlyType& each : kPlyTypes)
        if (name == each.name || name == each.other_name) return each.dtype;
    ply_fault(path, "its header has a type '" + std::string(name) + "'");
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> out;
    for (size_t at = 0; at < line.size();) {
        const size_t begin = line.find_first_not_of(" \t", at);
        if (begin == line.npos) break;
        at = std::min(line.find_first_of(" \t", begin), line.size());
        out.push_back(line.substr(begin, at - begin));
    }
    return out;
}

void add_element(const std::string& path, const std::vector<std::string_view>& words,
                 PlyHeader& header) {
    uint64_t count = 0;
    if (words.size() == 3) {
        const std::string_view number = words[2];
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), count);
        if (error == std::errc{} && end == number.data() + number.size()) {
            for (const PlyElement& each : header.elements)
                if (each.name == words[1])
                    ply_fault(path, "it has two elements '" + each.name + "'");
            header.elements.push_back({std::string(words[1]), count, {}});
            return;
        }
    }
    ply_fault(path, "its header has an element without a name and a number");
}

void add_property(const std::string& path, const std::vector<std::string_view>& words,
                  PlyHeader& header) {
    if (header.elements.empty()) ply_fault(path, "its header has a property of no element");
    const bool list = words.size() == 5 && words[1] == "list";
    if (!list && words.size() != 3)
        ply_fault(path, "its header has a property without a type and a name");
    PlyProperty property{std::string(words.back()), ply_type(path, words[words.size() - 2]), {}};
    if (list) {
        property.count = ply_type(path, words[2]);
        if (property.count->is_float())
            ply_fault(path, "the list '" + property.name + "' has a length that is no integer");
    }
    for (const PlyProperty& each : header.elements.back().properties)
        if (each.name == property.name)
            ply_fault(path, "'" + header.elements.back().name + "' has two properties '" +
                                property.name + "'");
    header.elements.back().properties.push_back(std::move(property));
}

PlyForm ply_form(const std::string& path, const std::vector<std::string_view>& words) {
    if (words.size() == 3 && words[2] == "1.0") {
        if (words[1] == "ascii") return PlyForm::Text;
        if (words[1] == "binary_little_endian") return PlyForm::LittleEndian;
        if (words[1] == "binary_big_endian") return PlyForm::BigEndian;
    }
    ply_fault(path, "its format is not ascii, binary_little_endian or binary_big_endian 1.0");
}

}  // namespace

void ply_fault(const std::string& path, const std::string& why) {
    refuse("file " + path + ": is no PLY file that can be read: " + why);
}

const char* ply_type_name(DType dtype) {
    for (const PlyType& each : kPlyTypes)
        if (each.dtype == dtype) return each.name;
    return nullptr;
}

PlyHeader parse_ply_header(const std::string& path, std::string_view file) {
    PlyHeader header;
    std::optional<PlyForm> form;
    for (bool first = true;; first = false) {
        const size_t end = file.find('\n', header.bytes);
        std::string_view line = file.substr(header.bytes, end - header.bytes);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (first && line != "ply") ply_fault(path, "it does not begin with the line 'ply'");
        if (end == file.npos) ply_fault(path, "its header has no end");
        header.bytes = end + 1;
        const std::vector<std::string_view> words = words_of(line);
        if (words.empty() || first || words[0] == "comment" || words[0] == "obj_info") continue;
        if (words[0] == "end_header") break;
        if (words[0] == "format")
            form = ply_form(path, words);
        else if (words[0] == "element")
            add_element(path, words, header);
        else if (words[0] == "property")
            add_property(path, words, header);
        else
            ply_fault(path, "its header has a line '" + std::string(line.substr(0, 80)) + "'");
    }
    if (!form) ply_fault(path, "its header names no format");
    header.form = *form;
    return header;
}

}  // namespace firn
