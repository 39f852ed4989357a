// Picture files of every format but OpenEXR.
#pragma once
#include <string>
#include <string_view>

#include "compiler/base/callback.h"
#include "engine/pictures/samples.h"

namespace firn {

/// Reads a picture file, recognised by its contents and not by its name: PNG, JPEG, Radiance HDR,
/// PNM, BMP, TGA, GIF (its first picture) or PSD. Throws UserError that names it: not there, a
/// folder, none of these, damaged, more than kMostPixels.
Samples read_samples(const std::string& path);
/// The same from the bytes of a file; messages call it `path`.
Samples parse_samples(const std::string& path, std::string_view bytes);

/// The meaning of a picture's numbers, as in Samples.
struct NumbersOf {
    bool is_light = false;
    double gamma = 0;  ///< as in Samples
};
/// The same as floats of 3 or 4 channels (to_floats), written to the memory that `room` returns for
/// the width and height. HDR needs no second copy of its numbers.
NumbersOf read_floats(const std::string& path, int channels,
                      const Callback<float*(int width, int height)>& room);

}  // namespace firn
