// The members of the struct that a call takes, as LLVM IR: `%c` points to one.
#pragma once
#include <string>
#include <vector>

#include "compiler/target/native/ahead/interface.h"
#include "compiler/target/native/ahead/ir_text.h"
#include "compiler/target/native/ahead/sizes.h"

namespace firn::ahead {

/// The definition of its type, `%call`.
std::string call_type(const Interface& interface);
/// Loads the member `k`.
std::string load_field(IrText& text, const Interface& interface, size_t k);
/// Loads the symbols of sizes, and the scalar arguments into `scalars`, by argument.
SymbolValues load_symbols(IrText& text, const Program& program, const Interface& interface,
                          std::vector<std::string>& scalars);

}  // namespace firn::ahead
