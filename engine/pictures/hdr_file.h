// Radiance HDR files: three bytes of red, green and blue and an exponent that they share.
#pragma once
#include <string>
#include <string_view>

#include "compiler/base/callback.h"
#include "engine/pictures/samples.h"

namespace firn {

/// True if the bytes begin as a Radiance HDR file.
bool is_hdr(std::string_view bytes);

/// Reads pixels without compression and with run lengths, old and new, in all eight orders of rows.
/// G. Ward, Real Pixels (Graphics Gems II, 1991), and Radiance's "File Formats". Throws UserError
/// that names `path`: damaged, cut short, pixels that are XYZ, more than kMostPixels.
Samples read_hdr(const std::string& path, std::string_view bytes);
/// The same as floats of 3 channels or 4 (opaque), written to the memory that `room` returns for
/// the width and height.
void read_hdr(const std::string& path, std::string_view bytes, int channels,
              const Callback<float*(int width, int height)>& room);

/// Encodes a whole file of `width` x `height` pixels of `channels` numbers: 1 is grey, of 3 and
/// more the first three count. Numbers below 0 and nan become 0; numbers beyond the range become
/// its end, 255/256 * 2^127.
std::string hdr_bytes(int width, int height, size_t channels, const float* pixels);

}  // namespace firn
