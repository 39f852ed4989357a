// Linear pictures as OpenEXR files.
#pragma once
#include <string>

#include "engine/window/picture.h"

namespace firn {

/// Writes beside `path` and renames, so that the file is whole or not there; every float comes back
/// as it was. Throws UserError where it cannot be written.
void write_exr(const std::string& path, const FloatPicture& picture);
/// Throws UserError that names the file: not there, or no EXR with colours. Alpha is left out.
FloatPicture read_exr(const std::string& path);
/// The file begins as one.
bool is_exr(const std::string& path);

}  // namespace firn
