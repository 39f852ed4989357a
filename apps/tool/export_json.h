// Writes all that a host must know to run exported kernels, as JSON.
#pragma once
#include <map>
#include <string>

#include "apps/tool/saved_file.h"
#include "apps/tool/translate.h"

namespace firn::tool {

/// The files of an export, by the index of what they hold.
struct ExportedFiles {
    std::map<size_t, std::string> kernels, constants;
    std::map<size_t, std::string> errors;  // of kernels without a file
};

/// The text of program.json: arguments, results, buffers, kernels and steps, with sizes as
/// formulas.
std::string export_json(const SavedProgram& saved, const Form& form, Language language,
                        const ExportedFiles& files);

}  // namespace firn::tool
