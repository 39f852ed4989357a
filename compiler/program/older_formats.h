// Older formats of saved programs become the present one; internal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firn {

/// Returns the body of a file of format 2, which is CBOR, with the present names of its fields. It
/// leaves what is not as it should be to the reader, which says where that is.
std::vector<uint8_t> body_from_format_2(std::span<const std::byte> body);

}  // namespace firn
