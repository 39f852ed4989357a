// Picture files by their endings and their beginnings.
#include "engine/firn/image_files.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/algorithms/colour.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/create.h"
#include "engine/firn/at_line.h"
#include "engine/firn/frame_numbers.h"
#include "engine/window/view.h"

namespace firn {
namespace {

/// All channels and alpha in unsigned integers.
template <class Made, class T>
Made in_integers(const StoredTensor& x, std::vector<T> Made::*pixels) {
    constexpr float most = std::numeric_limits<T>::max();
    const size_t channels = channels_of(x);
    Made out;
    out.width = static_cast<int>(x.shape[1]), out.height = static_cast<int>(x.shape[0]);
    const size_t count = static_cast<size_t>(out.width) * static_cast<size_t>(out.height);
    for (size_t pixel = 0; pixel < count; ++pixel)
        for (size_t channel = 0; channel < 4; ++channel) {
            const bool opaque = channel == 3 && channels < 4;
            const float value =
                opaque
                    ? most
                    : shown_element(x, pixel * channels + std::min(channel, channels - 1)) * most;
            // The comparison is false for nan, which becomes black.
            (out.*pixels)
                .push_back(value > 0 ? static_cast<T>(std::lround(std::min(value, most))) : T{0});
        }
    return out;
}

}  // namespace

Tensor load_image(const std::string& path, const LoadImageOptions& options, SourceLine line) {
    LineScope at(line);
    const FloatPicture picture = at_line(line, [&] {
        if (is_exr(path)) return read_exr(path, options.layer);
        if (!options.layer.empty())
            refuse("picture " + path + ": only OpenEXR files have layers; leave '" + options.layer +
                   "' out");
        return read_float_picture(path);
    });
    const Tensor out = tensor(picture.rgb, {picture.height, picture.width, 3}, line);
    return options.linear && !picture.is_light ? srgb_to_linear(out) : out;
}

void save_image(const std::string& path, const Tensor& x, const SaveImageOptions& options,
                SourceLine line) {
    LineScope at(line);
    const std::string ending = ending_of(path);
    const bool png = ending == ".png", light = ending == ".exr" || ending == ".hdr";
    if (!png && !light && ending != ".jpg" && ending != ".jpeg")
        refuse("picture " + path + ": the name ends in " + (ending.empty() ? "no format" : ending) +
               "; pictures are written as .png, .jpg, .exr and .hdr");
    if (options.bits != 0 && options.bits != 8 && options.bits != 16)
        refuse("save_image: a channel of " + std::to_string(options.bits) +
               " bits is in no picture file; ask for 8 or 16");
    if (options.bits == 16 && !png)
        refuse("picture " + path + ": " + ending +
               " has no channels of 16 bits; name a .png, or leave the number of bits out");
    const StoredTensor from = stored("picture", x);
    at_line(line, [&] {
        check_picture("save_image", from.dtype, from.shape);
        if (light)
            (ending == ".hdr" ? write_hdr : write_exr)(path, float_picture(from));
        else if (options.bits == 16 || (png && options.bits == 0 && from.dtype == u16))
            write_wide_png(path, in_integers(from, &WidePicture::rgba));
        else
            write_picture(path, in_integers(from, &Picture::rgba));
    });
}

}  // namespace firn
