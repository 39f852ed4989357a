// Pictures as files, each written whole or not at all.
#include "engine/window/picture.h"

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "compiler/base/error.h"
#include "engine/pictures/formats.h"
#include "engine/pictures/hdr_file.h"
#include "engine/pictures/jpeg_file.h"
#include "engine/pictures/png_file.h"
#include "engine/pictures/whole_picture.h"

namespace firn {

Picture read_picture(const std::string& path) {
    const Samples samples = read_samples(path);
    return {samples.width, samples.height, to_rgba(samples)};
}

namespace {

/// Returns the picture without alpha, which JPEG does not have.
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
        return write_whole_picture(path, [&](FILE* file) { return write_png_to(file, picture); });
    if (ending != ".jpg" && ending != ".jpeg")
        fail_picture(path, "the name ends in " + (ending.empty() ? "no format" : ending) +
                               "; pictures are written as .png and .jpg");
    check_jpeg_size(path, picture.width, picture.height);
    if (picture.channels % 2 == 0) return write_samples(path, without_alpha(picture));
    write_whole_picture(path, [&](FILE* file) { return write_jpeg_to(file, picture); });
}

void write_picture(const std::string& path, const Picture& picture) {
    write_samples(path, {picture.width, picture.height, 4, picture.rgba, {}, {}});
}

void write_png(const std::string& path, const Picture& picture) {
    write_whole_picture(path, [&](FILE* file) {
        return write_png_to(file, {picture.width, picture.height, 4, picture.rgba, {}, {}});
    });
}

void write_hdr(const std::string& path, int width, int height, int channels, const float* pixels) {
    const std::string bytes = hdr_bytes(width, height, static_cast<size_t>(channels), pixels);
    write_whole_picture(path, [&](FILE* file) {
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
