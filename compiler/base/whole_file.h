// Whole files: read into memory, and written so that a reader sees all of one or the one
// before.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace firn {

/// UserError where it cannot be read.
std::vector<std::byte> read_whole_file(const std::string& path);

/// Reads `count` bytes from `at` on into memory that has room for them, or as many as the file has;
/// returns how many. Throws UserError if it cannot be read.
size_t read_file_part(const std::string& path, uint64_t at, std::byte* to, size_t count);
/// UserError where it cannot be read.
uint64_t size_of_file(const std::string& path);

/// Writes under a temporary name in the same folder, and renames that. UserError where that fails,
/// as on a full disk: an older file stays, and nothing else is left.
void write_whole_file(const std::string& path, const std::vector<std::string_view>& parts);

}  // namespace firn
