// The fields of a saved program as CBOR (RFC 8949), and back; internal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/program/saved_program.h"

namespace firn {

/// The version of the format: a change in the list of fields, or in the meaning of one, needs a new
/// one.
inline constexpr uint32_t kSavedFormat = 3;

std::vector<uint8_t> write_body(const SavedProgram& saved);

/// `format` is that of the bytes, this one or an older one. Throws UserError with the error and its
/// place, in words that follow "cannot be read: ". The fields of the result have the right types;
/// check_saved checks whether they fit together.
SavedProgram read_body(std::span<const std::byte> body, uint32_t format = kSavedFormat);

}  // namespace firn
