// Whole text files.
#pragma once
#include <string>

namespace firn {

/// Reads a file. Throws UserError if it cannot be read.
std::string read_text_file(const std::string& path);
/// Writes a file whole or not at all. Throws UserError if it cannot be written.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace firn
