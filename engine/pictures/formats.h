// Picture files of every format but OpenEXR.
#pragma once
#include <string>
#include <string_view>

#include "engine/pictures/samples.h"

namespace firn {

/// What the file holds, whatever its name ends in: PNG, JPEG, Radiance HDR, PNM, BMP, TGA, GIF (its
/// first picture) or PSD. Throws UserError that names it: not there, a folder, none of these,
/// damaged, more than kMostPixels.
Samples read_samples(const std::string& path);
/// The same from the bytes of a file, of which messages call it `path`.
Samples parse_samples(const std::string& path, std::string_view bytes);

}  // namespace firn
