// Samples: the numbers of a picture as its file stores them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace firn {

/// Pictures with more pixels are refused: they would take 4 GiB as linear floats. Fuzzing sets
/// fewer, so that a damaged header costs no time.
#ifndef FIRN_MOST_PIXELS
#define FIRN_MOST_PIXELS (int64_t{1} << 28)
#endif
constexpr int64_t kMostPixels = FIRN_MOST_PIXELS;
/// Throws UserError if a picture has no pixels, or more than kMostPixels, by its header.
void check_picture_size(const std::string& path, int64_t width, int64_t height);
/// Throws UserError: "picture PATH: WHY".
[[noreturn]] void fail_picture(const std::string& path, const std::string& why);

/// A picture: rows from the top, pixels from the left, channels beside one another: 1 is grey, 2
/// grey and alpha, 3 red, green and blue, 4 these and alpha. The numbers are in one of the three
/// vectors.
struct Samples {
    int width = 0, height = 0, channels = 0;
    std::vector<uint8_t> narrow;
    std::vector<uint16_t> wide;
    std::vector<float> light;  ///< amounts of light, with nothing cut off
    /// Numbers from 0 to 1 are light^gamma; 0: they follow the curve of sRGB.
    double gamma = 0;
};

/// The count of numbers in a picture.
inline size_t count_of(const Samples& x) {
    return static_cast<size_t>(x.width) * static_cast<size_t>(x.height) *
           static_cast<size_t>(x.channels);
}

/// Converts a picture to floats of 3 channels (grey becomes three equal ones) or 4 (opaque is 1):
/// numbers from 0 to 1, amounts of light unchanged. `to` has room for them.
void to_floats(const Samples& picture, int channels, float* to);
/// Converts a picture to four channels of 8 bits: light is cut off at 1 and converted by the curve
/// of sRGB.
std::vector<uint8_t> to_rgba(const Samples& picture);

/// Rotates and mirrors a picture that was stored in one of the eight orientations of EXIF (2.32,
/// 4.6.4, tag 0x0112); other numbers do not change it.
void orient(Samples& picture, int orientation);
/// The orientation that an EXIF block names (TIFF, from its order of bytes on); 1 where it names
/// none or is damaged.
int exif_orientation(const uint8_t* block, size_t size);

}  // namespace firn
