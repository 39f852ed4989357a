// The fields of a saved program as CBOR (RFC 8949), and back; internal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/program/saved_program.h"

namespace firn {

std::vector<uint8_t> write_body(const SavedProgram& saved);

/// Throws UserError that says what is wrong and where, in words that go on behind "cannot be read:
/// ". What it gives has the right types; whether it fits together is for check_saved.
SavedProgram read_body(std::span<const std::byte> body);

}  // namespace firn
