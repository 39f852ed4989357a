// Pictures as files: PNG, JPEG and Radiance HDR.
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

/// The same of 16 bits.
struct WidePicture {
    int width = 0, height = 0;
    std::vector<uint16_t> rgba;
};

/// Red, green and blue as floats, with nothing cut off.
struct FloatPicture {
    int width = 0, height = 0;
    std::vector<float> rgb;
    /// Amounts of light (HDR, EXR); otherwise the numbers of sRGB, from 0 to 1 (PNG, JPEG).
    bool is_light = true;
};

/// Pictures with more pixels are not read: 4 GiB as linear floats.
constexpr int64_t kMostPixels = int64_t{1} << 28;
/// Throws UserError where a header says that a picture has no pixels, or more than kMostPixels.
void check_picture_size(const std::string& path, int64_t width, int64_t height);

/// Throws UserError that names the file: not there, or neither PNG nor JPEG (BMP, TGA and GIF are
/// read too), or too large.
Picture read_picture(const std::string& path);
/// The same, with all that the file holds: 16 bits of a PNG, the range of a Radiance HDR.
FloatPicture read_float_picture(const std::string& path);
/// Writes a PNG beside `path` and renames it, so that the file is whole or not there.
/// Throws UserError where it cannot be written.
void write_png(const std::string& path, const Picture& picture);
void write_wide_png(const std::string& path, const WidePicture& picture);
/// As write_png. Radiance HDR: 8 bits of each colour and an exponent that they share; what is below
/// 0 or nan becomes 0.
void write_hdr(const std::string& path, const FloatPicture& picture);
/// The ending of a file's name in small letters, with its dot.
std::string ending_of(const std::string& path);
/// By the ending of its name: .png, or .jpg and .jpeg without alpha. Throws UserError for others.
void write_picture(const std::string& path, const Picture& picture);

}  // namespace firn
