// BMP, TGA, GIF and PSD files by stb.
#include "engine/pictures/stb_file.h"

#include <algorithm>
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
namespace {

constexpr const char* kCutShort = "cannot be read (it is cut short); name a whole file";

/// The bytes of a file on their way to stb, which takes 0 for what a file has no longer.
struct StbSource {
    std::string_view rest;
    const char* buffer = nullptr;  ///< of the library; else it asks for bytes that it all needs
    bool is_cut = false;
};

int read_for_stb(void* user, char* to, int wanted) {
    auto& source = *static_cast<StbSource*>(user);
    if (!source.buffer) source.buffer = to;
    const size_t count = source.rest.copy(to, static_cast<size_t>(wanted));
    source.rest.remove_prefix(count);
    source.is_cut |= to == source.buffer ? count == 0 : count < static_cast<size_t>(wanted);
    return static_cast<int>(count);
}

void skip_for_stb(void* user, int count) {
    auto& source = *static_cast<StbSource*>(user);
    source.rest.remove_prefix(std::min(source.rest.size(), static_cast<size_t>(count)));
}

int is_at_end_for_stb(void* user) { return static_cast<StbSource*>(user)->rest.empty(); }

constexpr stbi_io_callbacks kStbCallbacks{read_for_stb, skip_for_stb, is_at_end_for_stb};

/// Checks the size before memory is allocated for it.
void check_stb_size(const std::string& path, std::string_view bytes) {
    // The most pixels that a byte of a BMP, TGA or PSD can stand for. A GIF has no such limit:
    // pixels that it does not store have its background.
    constexpr int64_t kMostPixelsOfAByte = 64;
    StbSource source{bytes};
    int width = 0, height = 0, channels = 0;
    if (stbi_info_from_callbacks(&kStbCallbacks, &source, &width, &height, &channels) == 0) return;
    check_picture_size(path, width, height);
    if (!bytes.starts_with("GIF8") &&
        int64_t{width} * height / kMostPixelsOfAByte > static_cast<int64_t>(bytes.size()))
        fail_picture(path, "its " + std::to_string(bytes.size()) + " bytes are too few for " +
                               std::to_string(width) + " x " + std::to_string(height) +
                               " pixels; name a whole file");
}

}  // namespace

Samples read_by_stb(const std::string& path, std::string_view bytes) {
    check_stb_size(path, bytes);
    Samples out;
    StbSource source{bytes};
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
        stbi_load_from_callbacks(&kStbCallbacks, &source, &out.width, &out.height, &out.channels,
                                 0),
        stbi_image_free);
    if (!pixels)
        fail_picture(path, std::string("this is no picture that can be read (") +
                               stbi_failure_reason() + "); name a PNG, JPEG, HDR or EXR file");
    if (source.is_cut) fail_picture(path, kCutShort);
    out.narrow.assign(pixels.get(), pixels.get() + count_of(out));
    return out;
}

}  // namespace firn
