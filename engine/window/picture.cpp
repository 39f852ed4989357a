// Pictures as files, each written whole or not at all.
#include "engine/window/picture.h"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "compiler/program/callback.h"
#include "compiler/program/error.h"
#include "engine/pictures/formats.h"
#include "engine/pictures/hdr_file.h"
#include "engine/pictures/jpeg_file.h"
#include "engine/pictures/png_file.h"

namespace firn {

Picture read_picture(const std::string& path) {
    const Samples samples = read_samples(path);
    return {samples.width, samples.height, to_rgba(samples)};
}

namespace {

/// Beside its place, and then there. `write` says whether it has written all.
void write_whole(const std::string& path, const Callback<bool(FILE*)>& write) {
    const std::string temporary = path + "." + std::to_string(getpid()) + ".part";
    using File = std::unique_ptr<FILE, int (*)(FILE*)>;
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
        fail_picture(path, "cannot be written (" + reason +
                               "); name a file in a folder that exists and can be written to");
    }
}

/// The same without alpha, which JPEG has not.
Samples without_alpha(const Samples& picture) {
    Samples out{picture.width, picture.height, picture.channels < 3 ? 1 : 3, {}, {}, {}};
    const auto from = static_cast<size_t>(picture.channels), to = static_cast<size_t>(out.channels);
    out.narrow.resize(count_of(out));
    for (size_t pixel = 0; pixel < out.narrow.size() / to; ++pixel)
        for (size_t c = 0; c < to; ++c)
            out.narrow[to * pixel + c] = picture.narrow[from * pixel + c];
    return out;
}

}  // namespace

void write_samples(const std::string& path, const Samples& picture) {
    const std::string ending = ending_of(path);
    if (ending == ".png")
        return write_whole(path, [&](FILE* file) { return write_png_to(file, picture); });
    if (ending != ".jpg" && ending != ".jpeg")
        fail_picture(path, "the name ends in " + (ending.empty() ? "no format" : ending) +
                               "; pictures are written as .png and .jpg");
    check_jpeg_size(path, picture.width, picture.height);
    if (picture.channels % 2 == 0) return write_samples(path, without_alpha(picture));
    write_whole(path, [&](FILE* file) { return write_jpeg_to(file, picture); });
}

void write_picture(const std::string& path, const Picture& picture) {
    write_samples(path, {picture.width, picture.height, 4, picture.rgba, {}, {}});
}

void write_png(const std::string& path, const Picture& picture) {
    write_whole(path, [&](FILE* file) {
        return write_png_to(file, {picture.width, picture.height, 4, picture.rgba, {}, {}});
    });
}

void write_hdr(const std::string& path, int width, int height, int channels, const float* pixels) {
    const std::string bytes = hdr_bytes(width, height, static_cast<size_t>(channels), pixels);
    write_whole(path, [&](FILE* file) {
        return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    });
}

void write_hdr(const std::string& path, const FloatPicture& picture) {
    write_hdr(path, picture.width, picture.height, picture.channels, picture.values.data());
}

std::string ending_of(const std::string& path) {
    std::string ending = std::filesystem::path(path).extension();
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return ending;
}

}  // namespace firn
