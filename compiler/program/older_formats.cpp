// Older formats of saved programs become the present one.
#include "compiler/program/older_formats.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/program/spirv_format.h"

namespace firn {
namespace {

using Json = nlohmann::json;

void rename(Json& object, const char* from, const char* to) {
    if (!object.is_object()) return;
    const auto found = object.find(from);
    if (found == object.end()) return;
    Json value = std::move(*found);
    object.erase(found);
    object[to] = std::move(value);
}

/// Calls `visit` with the value of a key, if there is one.
template <class Visit>
void at(Json& object, const char* key, const Visit& visit) {
    if (!object.is_object()) return;
    const auto found = object.find(key);
    if (found != object.end()) visit(*found);
}
/// Calls it with each element of such a list.
template <class Visit>
void each(Json& object, const char* key, const Visit& visit) {
    at(object, key, [&](Json& list) {
        if (list.is_array())
            for (Json& element : list) visit(element);
    });
}

/// Format 2 is as old as the time when there was one target: fields had names of its language, and
/// kernels at first no format.
void rename_kernel(Json& kernel) {
    rename(kernel, "glsl", "text");
    rename(kernel, "spirv", "words");
    if (kernel.is_object() && !kernel.contains("format")) kernel["format"] = kSpirvFormat;
    each(kernel, "bindings", [](Json& binding) {
        at(binding, "form", [](Json& form) {
            if (form == "texel") form = "view";
        });
    });
}

void rename_program(Json& program) {
    rename(program, "spirv_milliseconds", "build_milliseconds");
    at(program, "profile", [](Json& profile) {
        rename(profile, "max_texel_buffers", "max_views");
        rename(profile, "max_texel_elements", "max_view_elements");
        rename(profile, "texel_loads", "view_loads");
    });
    each(program, "kernels", rename_kernel);
}

}  // namespace

std::vector<uint8_t> body_from_format_2(std::span<const std::byte> body) {
    const auto* begin = reinterpret_cast<const uint8_t*>(body.data());
    Json file = Json::from_cbor(begin, begin + body.size());
    at(file, "program", rename_program);
    each(file, "variants", [](Json& variant) { at(variant, "program", rename_program); });
    return Json::to_cbor(file);
}

}  // namespace firn
