// The functions of the header, as LLVM IR.
#pragma once
#include <string>

#include "compiler/target/native/ahead/interface.h"
#include "compiler/target/native/ahead/places.h"

namespace firn::ahead {

/// The function that runs the program, by `@firn.layout` and `@firn.steps`; the one that says how
/// large its workspace is; and the one that gives the text of a code.
std::string entry_points(const Interface& interface, const Places& places);

}  // namespace firn::ahead
