// The data of a program, as LLVM IR.
#pragma once
#include <string>

#include "compiler/program/program.h"

namespace firn::ahead {

/// Defines `name` as so many bytes; `more` ends the definition.
std::string bytes_constant(const std::string& name, const char* bytes, size_t count,
                           const std::string& more = "");
/// The buffer is a constant with elements, defined as `@firn.constant_` with its number.
bool has_data(const Program& program, size_t buffer);
/// The definitions of all.
std::string constants(const Program& program);

}  // namespace firn::ahead
