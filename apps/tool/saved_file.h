// A saved program as the commands of the tool see it: its forms, its sizes, and its arguments by
// name.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/saved_program.h"

namespace firn::tool {

/// One of the programs of a file: that for all sizes, which is the first, or a variant.
struct Form {
    SymbolFacts facts;  // what it assumes of sizes
    std::shared_ptr<const Program> program;
};
std::vector<Form> forms_of(const SavedProgram& saved);
bool is_native(const Program& program);
/// `Vulkan, GPUs`, `native code for x86-64-v3`.
std::string device_text(const Program& program);
/// `for all sizes`, `for n = 512, m a multiple of 64`.
std::string facts_text(const SymbolFacts& facts);

/// A name and a value, as `--size n=512` gives them.
using Named = std::pair<std::string, std::string>;
/// Splits NAME=VALUE. Throws UserError that names the option if there is no `=` behind a name.
Named named(const std::string& option, const std::string& text);

/// The symbols of the shapes of arguments, sorted.
std::vector<std::string> symbols_of(const Program& program);
/// The shapes of a call, one for each argument: those that the program was saved with, where
/// `sizes` gives symbols other values. Throws UserError for an unknown symbol, which lists those
/// there are, and for a value that is no size.
std::vector<std::vector<int64_t>> shapes_at(const SavedProgram& saved,
                                            const std::vector<Named>& sizes);
/// `n = 512, m = 512`.
std::string sizes_text(const Program& program, const SizeEnv& symbols);

/// The results that a user sees: the first ones of a program may be sizes that only the device
/// knows.
size_t first_result(const Program& program);
/// `f32[n, m]`; a scalar is `f32`.
std::string type_text(DType dtype, const Shape& shape);
std::string type_text(DType dtype, const std::vector<int64_t>& shape);
/// `argument 0 (u, f32[n, m])`.
std::string argument_text(const Program& program, size_t argument);
/// Finds an argument by its name or its number. Throws UserError that names the option and lists
/// the arguments.
size_t argument_named(const Program& program, const std::string& name, const std::string& option);
/// The name of a result of Program::results; empty where it has none.
std::string result_name(const SavedProgram& saved, size_t result);
/// `result 0 'u'`: as people call it.
std::string result_text(const SavedProgram& saved, size_t result);
/// Returns whether the text is a number, or the name of a result.
bool is_result(const SavedProgram& saved, const std::string& text);
/// The result of this number, sizes that the data know left out, or of this name. Throws UserError
/// naming the option if there is none, which lists what there is.
size_t result_named(const SavedProgram& saved, const std::string& text, const std::string& option);
/// Returns the number that the text is, or -1.
int64_t whole_number(const std::string& text);

std::string joined(const std::vector<std::string>& texts, const std::string& between = ", ");
/// `1.5 MiB`.
std::string bytes_text(double bytes);

}  // namespace firn::tool
