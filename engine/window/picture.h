// Pictures as files: read in every supported format, written as PNG, JPEG and Radiance HDR.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/pictures/samples.h"

namespace firn {

/// Rows from the top, pixels from the left, 8 bits each of red, green, blue and alpha.
struct Picture {
    int width = 0, height = 0;
    std::vector<uint8_t> rgba;
};

/// Amounts of light as floats, with nothing cut off: 1 channel is grey, 3 are red, green and blue,
/// 4 these and alpha.
struct FloatPicture {
    int width = 0, height = 0;
    std::vector<float> values;
    int channels = 3;
};

/// Reads a picture. Throws UserError that names the file, as read_samples does; amounts of light
/// are converted to sRGB.
Picture read_picture(const std::string& path);
/// Writes beside `path` and renames, so that the file is whole or not there. Throws UserError if it
/// cannot be written.
/// @{
void write_png(const std::string& path, const Picture& picture);
/// Writes 8 bits of each colour and an exponent that they share, without alpha. Values below 0 and
/// nan become 0, and values beyond the range, such as infinity, become its end, 1.7e38.
void write_hdr(const std::string& path, const FloatPicture& picture);
void write_hdr(const std::string& path, int width, int height, int channels, const float* pixels);
/// Writes a file by the ending of its name: .png of 8 or 16 bits and as many channels as the
/// picture has, or .jpg and .jpeg of 8 bits without alpha, up to 65,500 pixels a side. Throws
/// UserError for other endings.
void write_samples(const std::string& path, const Samples& picture);
void write_picture(const std::string& path, const Picture& picture);
/// @}
/// The ending of a file's name in small letters, with its dot.
std::string ending_of(const std::string& path);

}  // namespace firn
