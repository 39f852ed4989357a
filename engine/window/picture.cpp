// Pictures as files, through stb.
#include "engine/window/picture.h"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "compiler/program/callback.h"
#include "compiler/program/error.h"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace firn {

void check_picture_size(const std::string& path, int64_t width, int64_t height) {
    if (width > 0 && height > 0 && width <= kMostPixels / height) return;
    throw UserError("picture " + path + ": its header says " + std::to_string(width) + " x " +
                    std::to_string(height) + " pixels, and 1 to " + std::to_string(kMostPixels) +
                    " can be read; name another file, or make it smaller");
}

Picture read_picture(const std::string& path) {
    if (std::filesystem::is_directory(path)) {
        throw UserError("picture " + path + ": this is a folder; name a PNG or JPEG file");
    }
    FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) {
        throw UserError("picture " + path + ": cannot be opened (" + std::strerror(errno) +
                        "); name a PNG or JPEG file");
    }
    Picture picture;
    int channels = 0;
    const std::unique_ptr<FILE, int (*)(FILE*)> closes(file, std::fclose);
    // Before anything is allocated by what it says. What has no size that can be read is told
    // below.
    if (stbi_info_from_file(file, &picture.width, &picture.height, &channels))
        check_picture_size(path, picture.width, picture.height);
    std::unique_ptr<unsigned char, void (*)(void*)> pixels(
        stbi_load_from_file(file, &picture.width, &picture.height, &channels, 4), stbi_image_free);
    if (!pixels) {
        throw UserError("picture " + path + ": this is no picture that can be read (" +
                        stbi_failure_reason() + "); name a PNG or JPEG file");
    }
    size_t bytes = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.height) * 4;
    picture.rgba.assign(pixels.get(), pixels.get() + bytes);
    return picture;
}

namespace {

constexpr int kJpegQuality = 95;

/// Beside its place, and then there.
void write_whole(const std::string& path, const Callback<int(const char*)>& write) {
    std::string temporary = path + "." + std::to_string(getpid()) + ".part";
    errno = 0;
    int written = write(temporary.c_str());
    std::string reason = errno ? std::strerror(errno) : "disk full?";
    std::error_code error;
    if (written) std::filesystem::rename(temporary, path, error);
    if (!written || error) {
        if (error) reason = error.message();
        std::filesystem::remove(temporary, error);
        throw UserError("picture " + path + ": cannot be written (" + reason +
                        "); name a file in a folder that exists and can be written to");
    }
}

}  // namespace

void write_png(const std::string& path, const Picture& picture) {
    write_whole(path, [&](const char* name) {
        return stbi_write_png(name, picture.width, picture.height, 4, picture.rgba.data(),
                              picture.width * 4);
    });
}

void write_picture(const std::string& path, const Picture& picture) {
    std::string ending = std::filesystem::path(path).extension();
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (ending == ".png") return write_png(path, picture);
    if (ending != ".jpg" && ending != ".jpeg") {
        throw UserError("picture " + path + ": the name ends in " +
                        (ending.empty() ? "no format" : ending) +
                        "; pictures are written as .png and .jpg");
    }
    write_whole(path, [&](const char* name) {
        return stbi_write_jpg(name, picture.width, picture.height, 4, picture.rgba.data(),
                              kJpegQuality);
    });
}

}  // namespace firn
