// Compiled functions in files: the parameters among their arguments.
#include "engine/firn/saved_programs.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "compiler/base/error.h"
#include "compiler/program/saved_program.h"
#include "engine/window/program_parameters.h"

namespace firn::detail {
namespace {

/// The parameters of a call, each once, with all arguments that it feeds.
void add_parameters_of(SavedProgram& saved, const std::vector<SavedParam>& params) {
    std::map<std::string, const Parameter*> known;
    for (const SavedParam& param : params) {
        const Parameter* parameter = param.panel.parameters().find(param.name);
        ensure(parameter, "a parameter is on no panel");
        const auto [at, is_new] = known.emplace(param.name, parameter);
        if (at->second != parameter)
            throw UserError("save_program: two parameters are called " + param.name +
                            "; give one of them another name");
        if (is_new) saved.parameters.push_back(program_parameter(*parameter));
        const auto fed =
            std::find_if(saved.parameters.begin(), saved.parameters.end(),
                         [&](const ProgramParameter& each) { return each.name == param.name; });
        for (size_t k = 0; k < param.count; ++k)
            fed->arguments.push_back(static_cast<int>(param.first + k));
    }
}

/// Names the arguments that a parameter feeds like the parameter, for messages.
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
    add_parameters_of(saved, params);
    name_arguments(saved);
    write_program(path, saved);
}

}  // namespace firn::detail
