// Numbers of a call as LLVM IR: scalar arguments, and numbers that the host computes.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/target/native/ahead/sizes.h"

namespace firn::ahead {

/// The values from which numbers are computed at one place of the function.
struct NumberScope {
    IrText& text;
    const Program& program;
    const std::vector<std::string>& scalars;  // by argument: the value as the struct holds it
    const SymbolValues& symbols;
    std::string too_large;  // the block to go to where a size does not fit into 32 bits
    std::map<int, std::string> known{};  // host numbers that are written, as float
};

/// Writes the value of a kernel's parameter as param_bits() gives it, an i64.
std::string write_parameter(NumberScope& scope, const ParamInfo& param);
/// Writes a size that a kernel gets as an i32, as an i64 that fits.
std::string write_index(NumberScope& scope, const Size& size);
/// The functions that numbers call.
std::string number_functions();
/// A number of type double as IR has it.
std::string double_literal(double value);

}  // namespace firn::ahead
