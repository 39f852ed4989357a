// Pictures as files: PNG and JPEG.
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

/// Pictures with more pixels are not read: 4 GiB as linear floats.
constexpr int64_t kMostPixels = int64_t{1} << 28;
/// Throws UserError where a header says that a picture has no pixels, or more than kMostPixels.
void check_picture_size(const std::string& path, int64_t width, int64_t height);

/// Throws UserError that names the file: not there, or neither PNG nor JPEG (BMP, TGA and GIF are
/// read too), or too large.
Picture read_picture(const std::string& path);
/// Writes a PNG beside `path` and renames it, so that the file is whole or not there.
/// Throws UserError where it cannot be written.
void write_png(const std::string& path, const Picture& picture);
/// By the ending of its name: .png, or .jpg and .jpeg without alpha. Throws UserError for others.
void write_picture(const std::string& path, const Picture& picture);

}  // namespace firn
