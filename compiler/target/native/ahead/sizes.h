// Sizes as LLVM IR: their values from those of their symbols.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/program/size.h"
#include "compiler/target/native/ahead/ir_text.h"

namespace firn::ahead {

/// The values (i64) of symbols by their names.
using SymbolValues = std::map<std::string, std::string>;

/// Writes the value of a size, an i64. Adds the conditions (i1) under which it does not fit into 64
/// bits to `overflows`.
std::string write_size(IrText& text, const Size& size, const SymbolValues& symbols,
                       std::vector<std::string>& overflows);
/// Writes the value of a size; runs on at the block `too_large` where it does not fit into 64 bits.
std::string write_checked_size(IrText& text, const Size& size, const SymbolValues& symbols,
                               const std::string& too_large);
/// The functions that sizes call.
std::string size_functions();

}  // namespace firn::ahead
