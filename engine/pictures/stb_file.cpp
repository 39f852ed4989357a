// BMP, TGA, GIF and PSD files by stb.
#include "engine/pictures/stb_file.h"

#include <limits>
#include <memory>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_ONLY_GIF
#define STBI_ONLY_PSD
#define STBI_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace firn {

Samples read_by_stb(const std::string& path, std::string_view bytes) {
    const auto* from = reinterpret_cast<const stbi_uc*>(bytes.data());
    Samples out;
    if (bytes.size() > std::numeric_limits<int>::max())
        fail_picture(path,
                     "this is no picture that can be read (2 GiB or more); name a PNG, JPEG, "
                     "HDR or EXR file");
    const int size = static_cast<int>(bytes.size());
    // Before anything is allocated by what it says.
    if (stbi_info_from_memory(from, size, &out.width, &out.height, &out.channels) != 0)
        check_picture_size(path, out.width, out.height);
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
        stbi_load_from_memory(from, size, &out.width, &out.height, &out.channels, 0),
        stbi_image_free);
    if (!pixels)
        fail_picture(path, std::string("this is no picture that can be read (") +
                               stbi_failure_reason() + "); name a PNG, JPEG, HDR or EXR file");
    out.narrow.assign(pixels.get(), pixels.get() + count_of(out));
    return out;
}

}  // namespace firn
