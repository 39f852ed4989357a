// The numbers of a picture as its file has them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace firn {

/// Pictures with more pixels are not read: 4 GiB as linear floats. Fuzzing takes fewer, so that a
/// damaged header costs no time.
#ifndef FIRN_MOST_PIXELS
#define FIRN_MOST_PIXELS (int64_t{1} << 28)
#endif
constexpr int64_t kMostPixels = FIRN_MOST_PIXELS;
/// Throws UserError where a header says that a picture has no pixels, or more than kMostPixels.
void check_picture_size(const std::string& path, int64_t width, int64_t height);
/// Throws UserError: "picture PATH: WHY".
[[noreturn]] void fail_picture(const std::string& path, const std::string& why);

/// Rows from the top, pixels from the left, channels one beside the other: 1 is grey, 2 grey and
/// alpha, 3 red, green and blue, 4 these and alpha. The numbers are in one of the three vectors.
struct Samples {
    int width = 0, height = 0, channels = 0;
    std::vector<uint8_t> narrow;
    std::vector<uint16_t> wide;
    std::vector<float> light;  ///< amounts of light, with nothing cut off
    /// Numbers from 0 to 1 are light^gamma; 0: those of sRGB.
    double gamma = 0;
};

/// How many numbers a picture has.
inline size_t count_of(const Samples& x) {
    return static_cast<size_t>(x.width) * static_cast<size_t>(x.height) *
           static_cast<size_t>(x.channels);
}

/// The same as floats of 3 channels (grey is three equal ones) or 4 (opaque is 1): numbers of bytes
/// from 0 to 1, light as it is. `to` has room for them.
void to_floats(const Samples& picture, int channels, float* to);
/// The same of 8 bits: what is light is cut off at 1 and written by the curve of sRGB.
std::vector<uint8_t> to_rgba(const Samples& picture);

/// Turns and mirrors a picture that was stored in one of the eight orientations of EXIF (2.32,
/// 4.6.4, tag 0x0112); other numbers leave it as it is.
void orient(Samples& picture, int orientation);
/// The orientation that an EXIF block names (TIFF, from its order of bytes on); 1 where it names
/// none or is damaged.
int exif_orientation(const uint8_t* block, size_t size);

}  // namespace firn
