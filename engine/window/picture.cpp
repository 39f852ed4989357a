// Pictures as files, through stb, and libpng where 16 bits are written.
#include "engine/window/picture.h"

#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>

#include "compiler/program/callback.h"
#include "compiler/program/error.h"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
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

namespace {

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

/// At its beginning; what its header says can be read.
File opened_picture(const std::string& path) {
    if (std::filesystem::is_directory(path)) {
        throw UserError("picture " + path + ": this is a folder; name a PNG, JPEG or HDR file");
    }
    FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) {
        throw UserError("picture " + path + ": cannot be opened (" + std::strerror(errno) +
                        "); name a PNG, JPEG or HDR file");
    }
    File closes(file, std::fclose);
    // Before anything is allocated by what it says. What has no size that can be read is told when
    // it is loaded.
    int width = 0, height = 0, channels = 0;
    if (stbi_info_from_file(file, &width, &height, &channels))
        check_picture_size(path, width, height);
    return closes;
}

/// By one of stb's functions, as so many channels.
template <class T>
std::unique_ptr<T, void (*)(void*)> loaded(const std::string& path, FILE* file,
                                           T* (*load)(FILE*, int*, int*, int*, int), int* width,
                                           int* height, int channels) {
    int own = 0;
    std::unique_ptr<T, void (*)(void*)> pixels(load(file, width, height, &own, channels),
                                               stbi_image_free);
    if (!pixels)
        throw UserError("picture " + path + ": this is no picture that can be read (" +
                        stbi_failure_reason() + "); name a PNG, JPEG or HDR file");
    return pixels;
}

/// The numbers of unsigned integers from 0 to 1.
template <class T>
std::vector<float> as_parts(const T* from, size_t count) {
    std::vector<float> out(count);
    std::transform(from, from + count, out.begin(), [](T value) {
        return static_cast<float>(value) / static_cast<float>(std::numeric_limits<T>::max());
    });
    return out;
}

}  // namespace

Picture read_picture(const std::string& path) {
    const File file = opened_picture(path);
    Picture picture;
    const auto pixels =
        loaded(path, file.get(), stbi_load_from_file, &picture.width, &picture.height, 4);
    size_t bytes = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.height) * 4;
    picture.rgba.assign(pixels.get(), pixels.get() + bytes);
    return picture;
}

FloatPicture read_float_picture(const std::string& path) {
    const File file = opened_picture(path);
    FloatPicture out;
    int *width = &out.width, *height = &out.height;
    const auto count = [&] {
        return static_cast<size_t>(out.width) * static_cast<size_t>(out.height) * 3;
    };
    out.is_light = stbi_is_hdr_from_file(file.get());
    if (out.is_light) {
        const auto pixels = loaded(path, file.get(), stbi_loadf_from_file, width, height, 3);
        out.rgb.assign(pixels.get(), pixels.get() + count());
    } else if (stbi_is_16_bit_from_file(file.get())) {
        const auto pixels = loaded(path, file.get(), stbi_load_from_file_16, width, height, 3);
        out.rgb = as_parts(pixels.get(), count());
    } else {
        const auto pixels = loaded(path, file.get(), stbi_load_from_file, width, height, 3);
        out.rgb = as_parts(pixels.get(), count());
    }
    return out;
}

namespace {

constexpr int kJpegQuality = 95;

/// Beside its place, and then there. `write` says whether it has written all.
void write_whole(const std::string& path, const Callback<bool(FILE*)>& write) {
    const std::string temporary = path + "." + std::to_string(getpid()) + ".part";
    errno = 0;
    File file(std::fopen(temporary.c_str(), "wb"), std::fclose);
    bool written = file && write(file.get()) && std::ferror(file.get()) == 0;
    if (file) written = std::fclose(file.release()) == 0 && written;  // what was left in memory
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

/// For stb, which does not ask whether it could be written.
void put(void* file, void* bytes, int count) {
    std::fwrite(bytes, 1, static_cast<size_t>(count), static_cast<FILE*>(file));
}

}  // namespace

void write_png(const std::string& path, const Picture& picture) {
    write_whole(path, [&](FILE* file) {
        return stbi_write_png_to_func(put, file, picture.width, picture.height, 4,
                                      picture.rgba.data(), picture.width * 4) != 0;
    });
}

namespace {

/// By libpng, which leaves by longjmp: nothing here has a destructor.
bool write_wide_rows(FILE* file, const WidePicture& picture) {
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_init_io(png, file);
    png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width),
                 static_cast<png_uint_32>(picture.height), 16, PNG_COLOR_TYPE_RGB_ALPHA,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    png_set_swap(png);  // the file has the high byte first
    for (int row = 0; row < picture.height; ++row)
        png_write_row(
            png,
            reinterpret_cast<png_const_bytep>(
                &picture.rgba[static_cast<size_t>(row) * static_cast<size_t>(picture.width) * 4]));
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

}  // namespace

void write_wide_png(const std::string& path, const WidePicture& picture) {
    write_whole(path, [&](FILE* file) { return write_wide_rows(file, picture); });
}

void write_hdr(const std::string& path, const FloatPicture& picture) {
    std::vector<float> light = picture.rgb;
    for (float& value : light) value = value > 0 ? value : 0;  // nan too
    write_whole(path, [&](FILE* file) {
        return stbi_write_hdr_to_func(put, file, picture.width, picture.height, 3, light.data()) !=
               0;
    });
}

std::string ending_of(const std::string& path) {
    std::string ending = std::filesystem::path(path).extension();
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return ending;
}

void write_picture(const std::string& path, const Picture& picture) {
    const std::string ending = ending_of(path);
    if (ending == ".png") return write_png(path, picture);
    if (ending != ".jpg" && ending != ".jpeg") {
        throw UserError("picture " + path + ": the name ends in " +
                        (ending.empty() ? "no format" : ending) +
                        "; pictures are written as .png and .jpg");
    }
    write_whole(path, [&](FILE* file) {
        return stbi_write_jpg_to_func(put, file, picture.width, picture.height, 4,
                                      picture.rgba.data(), kJpegQuality) != 0;
    });
}

}  // namespace firn
