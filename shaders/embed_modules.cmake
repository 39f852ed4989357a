# Writes OUTPUT, a C++ file that holds every SPIR-V module of FILES: the shader_module function.
set(includes "")
set(entries "")
set(count 0)
foreach(file IN LISTS FILES)
    get_filename_component(name "${file}" NAME_WLE)
    string(MAKE_C_IDENTIFIER ${name} variable)
    string(APPEND includes "#include \"${file}\"\n")
    string(APPEND entries "    {\"${name}\", ${variable}},\n")
    math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from shaders/*.comp, *.vert and *.frag.
#include \"engine/gpu/shader_library.h\"

#include <array>
#include <string>
#include <utility>

#include \"compiler/base/error.h\"

namespace firn {
namespace {

${includes}
const std::array<std::pair<std::string_view, std::span<const uint32_t>>, ${count}> kModules{{
${entries}}};

}  // namespace

std::span<const uint32_t> shader_module(std::string_view file_name) {
    for (const auto& [name, module] : kModules)
        if (name == file_name) return module;
    throw InternalError(\"no shader module named \" + std::string(file_name) + \" was built in\");
}

}  // namespace firn
")
