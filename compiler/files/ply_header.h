// The header of a PLY file: which elements there are, and of which numbers each is made; internal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/program/dtype.h"

namespace firn {

enum class PlyForm : uint8_t { Text, LittleEndian, BigEndian };

/// A number of each element of a kind, or a list of them.
struct PlyProperty {
    std::string name;
    DType dtype;
    std::optional<DType> count;  ///< a list: the type of its length
};

struct PlyElement {
    std::string name;
    uint64_t count = 0;
    std::vector<PlyProperty> properties;
};

struct PlyHeader {
    PlyForm form = PlyForm::Text;
    std::vector<PlyElement> elements;
    size_t bytes = 0;  ///< where the numbers begin
};

/// UserError: the file `path` does not begin as a PLY file.
PlyHeader parse_ply_header(const std::string& path, std::string_view file);

/// The name of a type in a PLY file; null where PLY has none.
const char* ply_type_name(DType dtype);

[[noreturn]] void ply_fault(const std::string& path, const std::string& why);

}  // namespace firn
