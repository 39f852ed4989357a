# Writes OUTPUT, a C++ file that holds the text of every one of FILES: the shader_source function.
set(entries "")
set(count 0)
foreach(file IN LISTS FILES)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" source)
    string(APPEND entries "    {\"${name}\", R\"firn_shader(${source})firn_shader\"},\n")
    math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from shaders/*.glsl.
#include \"compiler/target/glsl/shader_library.h\"

#include <array>
#include <string>
#include <utility>

#include \"compiler/base/error.h\"

namespace firn {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, ${count}> kSources{{
${entries}}};

}  // namespace

std::string_view shader_source(std::string_view file_name) {
    for (const auto& [name, source] : kSources)
        if (name == file_name) return source;
    throw InternalError(\"no shader text named \" + std::string(file_name) + \" was built in\");
}

}  // namespace firn
")
