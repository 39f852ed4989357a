// Pictures as files: PNG and JPEG in, PNG out.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace firn {

/// Rows from the top, pixels from the left, 8 bits each of red, green, blue and alpha.
struct Picture {
    int width = 0, height = 0;
    std::vector<uint8_t> rgba;
};

/// Throws UserError that names the file: not there, or neither PNG nor JPEG (BMP, TGA and GIF are
/// read too).
Picture read_picture(const std::string& path);
/// Writes a PNG beside `path` and renames it, so that the file is whole or not there.
/// Throws UserError where it cannot be written.
void write_png(const std::string& path, const Picture& picture);

}  // namespace firn
