// firn export: the kernels of a saved program in other languages, and how to call them.
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/tool/commands.h"
#include "apps/tool/export_json.h"
#include "apps/tool/saved_file.h"
#include "apps/tool/translate.h"
#include "compiler/base/error.h"
#include "compiler/base/whole_file.h"

namespace firn::tool {
namespace {

/// The form that was asked for: else the first for Vulkan and all sizes, else the first for Vulkan.
const Form& form_for(const std::vector<Form>& forms, int wanted) {
    if (wanted >= 0) {
        if (wanted >= static_cast<int>(forms.size()))
            throw UserError("--form " + std::to_string(wanted) + ": the file has forms 0 to " +
                            std::to_string(forms.size() - 1) + ", which inspect lists");
        return forms[static_cast<size_t>(wanted)];
    }
    for (const Form& form : forms)
        if (!is_native(*form.program) && assumes_nothing(form.facts)) return form;
    for (const Form& form : forms)
        if (!is_native(*form.program)) return form;
    throw UserError(
        "the file has no program for Vulkan, whose kernels are what export translates; save it "
        "for Vulkan too");
}

/// A name of a file, of letters, digits, `_`, `-` and dots, that no other one has.
std::string file_name(const std::string& name, std::set<std::string>& used) {
    std::string out;
    for (const char c : name)
        out += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' ? c : '_';
    if (out.empty() || out[0] == '.') out = "kernel" + out;
    std::string unique = out;
    for (int k = 1; !used.insert(unique).second; ++k) unique = out + "_" + std::to_string(k);
    return unique;
}

void make_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!std::filesystem::is_directory(folder))
        throw UserError(folder + ": this is no folder, and none can be made" +
                        (error ? " (" + error.message() + ")" : std::string()) + "; name another");
}

}  // namespace

int export_file(const ToolOptions& options) {
    const SavedProgram saved = read_program(options.file);
    const Language language = language_named(options.language);
    const std::vector<Form> forms = forms_of(saved);
    const Form& form = form_for(forms, options.form);
    const Program& program = *form.program;
    if (const std::string why = why_not_translated(language, program); !why.empty())
        throw UserError(options.file + ": " + why);
    make_folder(options.folder);
    const std::filesystem::path folder(options.folder);
    ExportedFiles files;
    std::set<std::string> used{"program"};
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const KernelInfo& kernel = program.kernels[k];
        std::string code;
        try {
            code = translated(language, kernel);
        } catch (const UserError& error) {
            files.errors[k] = error.what();
            std::fprintf(stderr, "firn: kernel %s is not written: %s\n", kernel.name.c_str(),
                         error.what());
            continue;
        }
        files.kernels[k] = file_name(kernel.name, used) + ending_of(language);
        write_whole_file((folder / files.kernels[k]).string(), {code});
    }
    for (size_t k = 0; k < program.buffers.size(); ++k) {
        const BufferInfo& buffer = program.buffers[k];
        if (buffer.role != BufferRole::Constant) continue;
        files.constants[k] = file_name("constant_" + std::to_string(k), used) + ".bin";
        // As many bytes as kernels may touch.
        std::string bytes(reinterpret_cast<const char*>(buffer.data.data()), buffer.data.size());
        bytes.resize(static_cast<size_t>(buffer.bytes().constant()));
        write_whole_file((folder / files.constants[k]).string(), {bytes});
    }
    write_whole_file((folder / "program.json").string(),
                     {export_json(saved, form, language, files)});
    std::printf("%s (%s, %s): %zu of %zu kernels, %zu constants and program.json in %s\n",
                saved.name.c_str(), device_text(program).c_str(), facts_text(form.facts).c_str(),
                files.kernels.size(), program.kernels.size(), files.constants.size(),
                options.folder.c_str());
    return files.errors.empty() ? 0 : 1;
}

}  // namespace firn::tool
