// Picture files that are written whole or not at all.
#pragma once
#include <cstdio>
#include <string>

#include "compiler/program/callback.h"

namespace firn {

/// Writes beside `path` and renames. `write` says whether it has written all. Throws UserError that
/// names the file where that fails: what was there stays, and nothing else is left.
void write_whole_picture(const std::string& path, const Callback<bool(FILE*)>& write);

}  // namespace firn
