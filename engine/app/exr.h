// Linear pictures as OpenEXR files.
#pragma once
#include <string>
#include <vector>

namespace firn {

/// Rows from the top, red, green and blue as linear 32-bit floats.
struct LinearPicture {
    int width = 0, height = 0;
    std::vector<float> rgb;
};

/// Writes beside `path` and renames, so that the file is whole or not there; every float comes back
/// as it was. Throws UserError where it cannot be written.
void write_exr(const std::string& path, const LinearPicture& picture);
/// Throws UserError that names the file: not there, or no EXR with colours. Alpha is left out.
LinearPicture read_exr(const std::string& path);

}  // namespace firn
