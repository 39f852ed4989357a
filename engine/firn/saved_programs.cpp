// Compiled functions in files: the parameters among their arguments.
#include "engine/firn/saved_programs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <variant>

#include "compiler/program/error.h"
#include "compiler/program/saved_program.h"
#include "engine/window/program_parameters.h"

namespace firn::detail {
namespace {

/// A parameter feeds what it is given for, once or more often.
void add_parameter(SavedProgram& saved, const SavedParam& param) {
    const Parameter* known = param.panel.parameters().find(param.name);
    ensure(known, "a parameter is on no panel");
    auto at = std::find_if(saved.parameters.begin(), saved.parameters.end(),
                           [&](const ProgramParameter& each) { return each.name == param.name; });
    if (at == saved.parameters.end()) at = saved.parameters.insert(at, program_parameter(*known));
    for (size_t k = 0; k < param.count; ++k)
        at->arguments.push_back(static_cast<int>(param.first + k));
}

/// Arguments that a parameter feeds are called as it is, for messages.
void name_arguments(SavedProgram& saved) {
    Program program = *saved.program;
    for (const ProgramParameter& parameter : saved.parameters)
        for (int argument : parameter.arguments)
            program.arguments[static_cast<size_t>(argument)].name = parameter.name;
    saved.program = std::make_shared<const Program>(std::move(program));
}

}  // namespace

void save_program(const std::string& path, const Function& function, const std::vector<Arg>& args,
                  const std::vector<SavedParam>& params) {
    SavedProgram saved = function.saved(args);
    saved.name = std::filesystem::path(path).stem().string();
    for (const SavedParam& param : params) add_parameter(saved, param);
    name_arguments(saved);
    write_program(path, saved);
}

}  // namespace firn::detail
