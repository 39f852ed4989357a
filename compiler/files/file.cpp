// Whole files, with the user's line where they are refused.
#include "compiler/files/file.h"

#include "compiler/base/error.h"
#include "compiler/base/whole_file.h"
#include "compiler/frontend/line_scope.h"

namespace firn {

std::vector<std::byte> read_file(const std::string& path) {
    try {
        return read_whole_file(path);
    } catch (const UserError& error) {
        refuse(error.what());
    }
}

std::string no_such_name(const std::string& path, const std::string& name,
                         const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
    return "file " + path + ": has no tensor '" + name + "'; it has " +
           (all.empty() ? "none" : all);
}

void refuse_name(const std::string& path, const std::string& name,
                 const std::vector<std::string>& names) {
    refuse(no_such_name(path, name, names));
}

void write_file(const std::string& path, const std::vector<std::string_view>& parts) {
    try {
        write_whole_file(path, parts);
    } catch (const UserError& error) {
        refuse(error.what());
    }
}

}  // namespace firn
