// BMP, TGA, GIF and PSD files by stb.
#pragma once
#include <string>
#include <string_view>

#include "engine/pictures/samples.h"

namespace firn {

/// Reads the first picture of the file, in 8 bits. Throws UserError that names `path`: none of
/// these, damaged, more than kMostPixels.
Samples read_by_stb(const std::string& path, std::string_view bytes);

}  // namespace firn
