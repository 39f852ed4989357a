// Hand-written GLSL text that is built into the compiler.
#pragma once
#include <string_view>

namespace firn {

/// The text of shaders/<file_name>, for instance shader_source("math.glsl"): every *.glsl there is
/// built in. Lives as long as the process. Throws InternalError where there is no such file.
std::string_view shader_source(std::string_view file_name);

}  // namespace firn
