// Whole files, with the user's line where they are refused (compiler/base/whole_file.h);
// internal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace firn {

/// UserError where it cannot be read.
std::vector<std::byte> read_file(const std::string& path);

/// Returns the message that the file has no tensor of that name, with the names that it has;
/// refuse_name throws it as a UserError.
std::string no_such_name(const std::string& path, const std::string& name,
                         const std::vector<std::string>& names);
[[noreturn]] void refuse_name(const std::string& path, const std::string& name,
                              const std::vector<std::string>& names);

/// Writes under a temporary name in the same folder, and renames that. UserError if that fails, as
/// on a full disk; then an old file stays, and no temporary file is left.
void write_file(const std::string& path, const std::vector<std::string_view>& parts);

}  // namespace firn
