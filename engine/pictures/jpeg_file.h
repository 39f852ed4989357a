// JPEG files by libjpeg-turbo.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

#include "engine/pictures/samples.h"

namespace firn {

/// True if the bytes begin as a JPEG file.
bool is_jpeg(std::string_view bytes);

/// Reads baseline and progressive files: grey, colours, and CMYK as red, green and blue, in the
/// orientation that the EXIF block names. Throws UserError that names `path`: damaged, cut short,
/// more than kMostPixels.
Samples read_jpeg(const std::string& path, std::string_view bytes);

/// Throws UserError where a side has more pixels than libjpeg-turbo writes.
void check_jpeg_size(const std::string& path, int width, int height);

/// Writes a picture of 8 bits, grey or red, green and blue, in good quality. False if the file
/// cannot be written.
bool write_jpeg_to(FILE* file, const Samples& picture);

}  // namespace firn
