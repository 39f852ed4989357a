// Compiled functions in files: the parameters among their arguments, and object files.
#include "engine/firn/saved_programs.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "compiler/base/error.h"
#include "compiler/base/whole_file.h"
#include "compiler/host/processor.h"
#include "compiler/program/saved_program.h"
#include "compiler/target/native/ahead/ahead.h"
#include "compiler/target/native/llvm.h"
#include "engine/parameters/program_parameters.h"

namespace firn::detail {
namespace {

/// The parameters of a call, each once, with all arguments that it feeds.
void add_parameters_of(SavedProgram& saved, const std::vector<SavedParam>& params,
                       const char* what) {
    std::map<std::string, const Parameter*> known;
    for (const SavedParam& param : params) {
        const Parameter* parameter = param.panel.parameters().find(param.name);
        ensure(parameter, "a parameter is on no panel");
        const auto [at, is_new] = known.emplace(param.name, parameter);
        if (at->second != parameter)
            throw UserError(std::string(what) + ": two parameters are called " + param.name +
                            "; give one of them another name");
        if (is_new) saved.parameters.push_back(program_parameter(*parameter));
        const auto fed =
            std::find_if(saved.parameters.begin(), saved.parameters.end(),
                         [&](const ProgramParameter& each) { return each.name == param.name; });
        for (size_t k = 0; k < param.count; ++k)
            fed->arguments.push_back(static_cast<int>(param.first + k));
    }
}

/// Names the arguments that a parameter feeds like the parameter, for messages; several of them
/// `wind_0` and so on where they need names of their own.
std::shared_ptr<const Program> with_names(Program program,
                                          const std::vector<ProgramParameter>& parameters,
                                          bool own_names, const std::vector<std::string>& names) {
    for (const ProgramParameter& parameter : parameters)
        for (size_t k = 0; k < parameter.arguments.size(); ++k)
            program.arguments[static_cast<size_t>(parameter.arguments[k])].name =
                parameter.name + (own_names && parameter.arguments.size() > 1
                                      ? "_" + std::to_string(k)
                                      : std::string());
    for (size_t k = 0; k < names.size(); ++k)
        if (!names[k].empty()) program.arguments[k].name = names[k];
    return std::make_shared<const Program>(std::move(program));
}

void name_arguments(SavedProgram& saved, bool own_names,
                    const std::vector<std::string>& names = {}) {
    saved.program = with_names(*saved.program, saved.parameters, own_names, names);
    for (SavedVariant& variant : saved.variants)
        variant.program = with_names(*variant.program, saved.parameters, own_names, names);
}

/// Refuses names of things that there are not, and names that two of them have.
void check_names(const std::vector<std::string>& names, size_t count, const char* what) {
    if (names.size() > count)
        throw UserError("save_program: the options name " + std::to_string(names.size()) + " " +
                        what + " and the function has " + std::to_string(count) +
                        "; name no more than there are");
    for (size_t k = 0; k < names.size(); ++k)
        if (!names[k].empty() &&
            std::count(names.begin(), names.begin() + static_cast<ptrdiff_t>(k), names[k]) > 0)
            throw UserError(std::string("save_program: two of the ") + what + " are called " +
                            names[k] + "; give one of them another name");
}

/// The results that only tell sizes come first, and have no names.
void name_results(SavedProgram& saved, const std::vector<std::string>& names) {
    const size_t sizes = saved.program->data_sizes.size();
    check_names(names, saved.program->results.size() - sizes, "results");
    if (names.empty()) return;
    saved.result_names.resize(saved.program->results.size());
    std::copy(names.begin(), names.end(),
              saved.result_names.begin() + static_cast<ptrdiff_t>(sizes));
}

}  // namespace

void save_program(const std::string& path, const Function& function, const SaveOptions& options,
                  const std::vector<Arg>& args, const std::vector<SavedParam>& params) {
    SavedProgram saved = function.saved(args, options);
    saved.name = std::filesystem::path(path).stem().string();
    add_parameters_of(saved, params, "save_program");
    check_names(options.arguments, saved.program->arguments.size(), "arguments");
    name_arguments(saved, false, options.arguments);
    name_results(saved, options.results);
    write_program(path, saved);
}

void save_native(const NativeFiles& files, const Function& function, const std::vector<Arg>& args,
                 const std::vector<SavedParam>& params) {
    const NativeProcessor processor = processor_named(files.processor, "save_native");
    DeviceProfile profile = profile_of_processor(processor);
    profile.driver = native_compiler_version();
    SavedProgram saved = function.saved_as_texts(args, profile);
    add_parameters_of(saved, params, "save_native");
    name_arguments(saved, true);
    AheadNames names{files.name, files.arguments, files.results};
    if (names.function.empty())
        names.function = std::filesystem::path(files.object).stem().string();
    const AheadFiles made = compile_ahead(saved, names, processor);
    write_whole_file(files.object, {made.object});
    write_whole_file(files.header, {made.header});
}

}  // namespace firn::detail
