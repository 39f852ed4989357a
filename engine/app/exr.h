// Linear pictures as OpenEXR files.
#pragma once
#include <string>
#include <vector>

#include "engine/window/picture.h"

namespace firn {

/// Writes beside `path` and renames, so that the file is whole or not there; every float comes back
/// as it was. Throws UserError where it cannot be written.
void write_exr(const std::string& path, const FloatPicture& picture);

/// A layer of a file, which is a picture: channels NAME.R, NAME.G and NAME.B, or .X, .Y and .Z, or
/// one alone, which counts for all three; a part of a file of several is a layer of its own. Half
/// floats and unsigned integers become floats of their values. Without a name it is the channels
/// that have none, else the only layer, else the one that Blender calls Combined. Alpha is left
/// out. Throws UserError that names the file: not there, damaged, no such layer, or several.
FloatPicture read_exr(const std::string& path, const std::string& layer = "");

/// The file begins as one.
bool is_exr(const std::string& path);

}  // namespace firn
