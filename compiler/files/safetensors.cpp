// The format safetensors: 8 bytes of length, a header in JSON, and the elements of all tensors.
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "compiler/files/file.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMostHeader = 100'000'000;  // as the format's own readers

struct SafetensorsType {
    const char* name;
    DType dtype;
};
constexpr SafetensorsType kSafetensorsTypes[] = {
    {"F32", f32}, {"F16", f16}, {"BF16", bf16},   {"F64", f64}, {"I32", i32},
    {"U32", u32}, {"I64", i64}, {"U64", u64},     {"I16", i16}, {"U16", u16},
    {"I8", i8},   {"U8", u8},   {"BOOL", boolean}};

std::string name_of(DType dtype) {
    for (const SafetensorsType& each : kSafetensorsTypes)
        if (each.dtype == dtype) return each.name;
    return "?";
}

[[noreturn]] void safetensors_fault(const std::string& path, const std::string& why) {
    refuse("file " + path + ": is no whole safetensors file: " + why);
}

bool is_size(const Json& value) {
    return value.is_number_unsigned() && value.get<uint64_t>() <= uint64_t(INT64_MAX);
}

StoredTensor parse_entry(const std::string& path, const std::string& name, const Json& entry,
                         const std::byte* data, size_t size) {
    const auto fail_entry = [&](const std::string& why) {
        safetensors_fault(path, "'" + name + "' " + why);
    };
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets"))
        fail_entry("has no dtype, shape and data_offsets");
    const Json &type = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
    if (!type.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2 ||
        !is_size(offsets[0]) || !is_size(offsets[1]))
        fail_entry("has a dtype, shape or data_offsets of another kind");
    StoredTensor out{name, {}, {}, {}};
    bool known = false;
    for (const SafetensorsType& each : kSafetensorsTypes)
        if (type.get<std::string>() == each.name) out.dtype = each.dtype, known = true;
    if (!known)
        refuse("file " + path + ": '" + name + "' has elements of type " + type.get<std::string>() +
               ", which Firn has not; write it as F32 or F16");
    for (const Json& each : shape) {
        if (!is_size(each)) fail_entry("has an invalid size");
        out.shape.push_back(each.get<int64_t>());
    }
    const auto begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
    if (begin > end || end > size)
        fail_entry("lies at " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                   std::to_string(size) + " bytes; the file is cut short");
    const int64_t elements = elements_of(out.shape);
    if (elements < 0 || uint64_t(elements) * uint64_t(file_bytes(out.dtype)) != end - begin)
        fail_entry("has " + std::to_string(end - begin) + " bytes, which its shape does not fill");
    out.bytes.assign(data + begin, data + end);
    return out;
}

/// `each(name, entry, data, size)` of all tensors, until it gives one.
template <class Each>
std::optional<StoredTensor> visit_entries(const std::string& path, const Each& each) {
    const std::vector<std::byte> bytes = read_file(path);
    uint64_t header = 0;
    if (bytes.size() < 8)
        safetensors_fault(path, "it has " + std::to_string(bytes.size()) + " bytes");
    for (size_t k = 0; k < 8; ++k) header |= std::to_integer<uint64_t>(bytes[k]) << (8 * k);
    if (header > bytes.size() - 8 || header > kMostHeader)
        safetensors_fault(path, "its header would have " + std::to_string(header) +
                                    " bytes, and it has " + std::to_string(bytes.size() - 8) +
                                    " after that number");
    const char* text = reinterpret_cast<const char*>(bytes.data()) + 8;
    const Json json = Json::parse(text, text + header, nullptr, false);
    if (!json.is_object()) safetensors_fault(path, "its header is no JSON object");
    const size_t begin = 8 + static_cast<size_t>(header);
    for (const auto& [name, entry] : json.items())
        if (name != "__metadata__")
            if (auto found = each(name, entry, bytes.data() + begin, bytes.size() - begin))
                return found;
    return std::nullopt;
}

}  // namespace

std::vector<StoredTensor> read_safetensors(const std::string& path) {
    std::vector<StoredTensor> out;
    visit_entries(
        path, [&](const std::string& name, const Json& entry, const std::byte* data, size_t size) {
            out.push_back(parse_entry(path, name, entry, data, size));
            return std::optional<StoredTensor>();
        });
    return out;
}

StoredTensor read_safetensors(const std::string& path, const std::string& name) {
    std::vector<std::string> names;
    auto found = visit_entries(
        path, [&](const std::string& own, const Json& entry, const std::byte* data, size_t size) {
            names.push_back(own);
            return own == name ? std::optional(parse_entry(path, own, entry, data, size))
                               : std::nullopt;
        });
    if (!found) refuse_name(path, name, names);
    return std::move(*found);
}

void write_safetensors(const std::string& path, const std::vector<StoredTensor>& tensors) {
    Json json = Json::object();
    uint64_t at = 0;
    for (const StoredTensor& each : tensors) {
        const uint64_t end = at + each.bytes.size();
        json[each.name] = {
            {"dtype", name_of(each.dtype)}, {"shape", each.shape}, {"data_offsets", {at, end}}};
        at = end;
    }
    std::string header = json.dump();
    while (header.size() % 8 != 0) header += ' ';
    std::string length;
    for (size_t k = 0; k < 8; ++k) length += static_cast<char>(header.size() >> (8 * k) & 255);
    std::vector<std::string_view> parts{length, header};
    for (const StoredTensor& each : tensors)
        parts.emplace_back(reinterpret_cast<const char*>(each.bytes.data()), each.bytes.size());
    write_file(path, parts);
}

}  // namespace firn
