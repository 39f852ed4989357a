// PNG files by libpng.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

#include "engine/pictures/samples.h"

namespace firn {

/// True if the bytes begin as a PNG file.
bool is_png(std::string_view bytes);

/// Reads every kind of PNG: palettes, grey of 1 bit and more, 16 bits, transparency, interlaced; in
/// the orientation that the EXIF block names. Throws UserError that names `path`: damaged, cut
/// short, more than kMostPixels.
Samples read_png(const std::string& path, std::string_view bytes);

/// Writes a picture of 8 or 16 bits with its own number of channels. False if libpng refuses it, or
/// the file cannot be written.
bool write_png_to(FILE* file, const Samples& picture);

}  // namespace firn
