// JPEG files by libjpeg-turbo.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

#include "engine/pictures/samples.h"

namespace firn {

/// The bytes begin as such a file.
bool is_jpeg(std::string_view bytes);

/// Grey, colours, and CMYK as red, green and blue; baseline and progressive; in the orientation
/// that its EXIF block names. Throws UserError that names `path`: damaged, cut short, more than
/// kMostPixels.
Samples read_jpeg(const std::string& path, std::string_view bytes);

/// Throws UserError where a side has more pixels than libjpeg-turbo writes.
void check_jpeg_size(const std::string& path, int width, int height);

/// Of 8 bits, grey or red, green and blue, in good quality. False where the file cannot be written.
bool write_jpeg_to(FILE* file, const Samples& picture);

}  // namespace firn
