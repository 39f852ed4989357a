// Decompresses deflate and gzip data by zlib; internal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace firn {

/// How compressed bytes are wrapped: not at all, as members of a zip file are, or as gzip's files.
enum class Deflated : uint8_t { Bare, Gzip };

/// The first `most` bytes of what `bytes` hold, or all where that is less; memory is asked for by
/// what so many bytes can hold, whatever `most` says. Absent where they are damaged before that.
std::optional<std::vector<std::byte>> inflated(std::string_view bytes, uint64_t most,
                                               Deflated form);

/// The checksum that zip files have of their members.
uint32_t crc32_of(std::string_view bytes);

}  // namespace firn
