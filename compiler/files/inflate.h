// Decompresses deflate and gzip data by zlib; internal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace firn {

/// The container of deflated bytes: none, as in the members of a zip file, or gzip's.
enum class Deflated : uint8_t { Bare, Gzip };

/// Returns the first `most` bytes of the decompressed `bytes`, or all if there are fewer; nothing
/// if they are damaged before that. Allocates no more than the compressed bytes can hold.
std::optional<std::vector<std::byte>> inflated(std::string_view bytes, uint64_t most,
                                               Deflated form);

/// The checksum that zip files have of their members.
uint32_t crc32_of(std::string_view bytes);

}  // namespace firn
