// Kernels in other languages, through SPIRV-Cross where the tool was built with it.
#pragma once
#include <string>

#include "compiler/program/program.h"

namespace firn::tool {

enum class Language : unsigned char { Spirv, Glsl, Hlsl, Msl };

/// The language by its name on the command line.
Language language_named(const std::string& name);
/// The ending of its files, with the dot.
std::string ending_of(Language language);
/// The name of the function in such a file.
std::string entry_of(Language language);
/// Returns why kernels cannot be translated into the language at all; empty: they can.
std::string why_not_translated(Language language, const Program& program);

/// The text of the kernel in the language, or its words as bytes for SPIR-V. Binding k of the
/// kernel is register u<k> of HLSL, and buffer k of Metal (texture k for a texel buffer);
/// its parameters are the constant buffer, or the buffer, behind the last binding. Throws UserError
/// with the reason if the language cannot express the kernel.
std::string translated(Language language, const KernelInfo& kernel);

}  // namespace firn::tool
