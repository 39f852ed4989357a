// Writes picture files whole or not at all.
#pragma once
#include <cstdio>
#include <string>

#include "compiler/base/callback.h"

namespace firn {

/// Writes to a temporary file beside `path` and renames it. `write` returns whether it has written
/// all. Throws UserError that names the file if that fails; then an older file stays, and no other
/// is left.
void write_whole_picture(const std::string& path, const Callback<bool(FILE*)>& write);

}  // namespace firn
