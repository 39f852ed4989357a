// Recognises the format of a picture file and reads it.
#include "engine/pictures/formats.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "compiler/base/whole_file.h"
#include "engine/pictures/hdr_file.h"
#include "engine/pictures/jpeg_file.h"
#include "engine/pictures/png_file.h"
#include "engine/pictures/pnm_file.h"
#include "engine/pictures/stb_file.h"

namespace firn {
namespace {

struct Format {
    bool (*begins)(std::string_view bytes);
    Samples (*read)(const std::string& path, std::string_view bytes);
};
constexpr Format kFormats[] = {
    {is_png, read_png}, {is_jpeg, read_jpeg}, {is_hdr, read_hdr}, {is_pnm, read_pnm}};

/// First bytes of other formats, from byte `at` on, and the advice for a file that begins so.
struct OtherFormat {
    size_t at;
    std::string_view begin;
    const char *name, *way_out;
};
constexpr const char* kConvert = "convert it to PNG or EXR, as by oiiotool or ImageMagick";
constexpr OtherFormat kOtherFormats[] = {
    {0, {"II*\0", 4}, "TIFF", kConvert},
    {0, {"MM\0*", 4}, "TIFF", kConvert},
    {0, {"II+\0", 4}, "BigTIFF", kConvert},
    {8, "WEBP", "WebP", kConvert},
    {4, "ftypavif", "AVIF", kConvert},
    {4, "ftyphei", "HEIC", kConvert},
    {4, "ftypmif1", "HEIF", kConvert},
    {0, "\xff\x0a", "JPEG XL", kConvert},
    {4, "JXL ", "JPEG XL", kConvert},
    {4, "jP  ", "JPEG 2000", kConvert},
    {0, "\xff\x4f\xff\x51", "JPEG 2000", kConvert},
    {0, "SDPX", "DPX", kConvert},
    {0, "XPDS", "DPX", kConvert},
    {0, "DDS ", "DDS", kConvert},
    {0, "qoif", "QOI", kConvert},
    {0, "P7\n", "PAM", kConvert},
    {0, "PF\n", "PFM", kConvert},
    {0, "Pf\n", "PFM", kConvert},
    {0, "\x80\x2a\x5f\xd7", "Cineon", kConvert},
    {0, "%PDF", "PDF", kConvert},
    {0, "\x93NUMPY", "npy", "call load_npy"},
    {0, "PK\x03\x04", "zip or npz", "call load_npz, or unpack it"},
    {4, "ftyp", "MP4", "write its frames as PNG, as by ffmpeg"},
};

}  // namespace

Samples parse_samples(const std::string& path, std::string_view bytes) {
    const auto format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                     [&](const Format& each) { return each.begins(bytes); });
    if (format != std::end(kFormats)) return format->read(path, bytes);
    for (const OtherFormat& other : kOtherFormats)
        if (bytes.size() > other.at && bytes.substr(other.at).starts_with(other.begin))
            fail_picture(path, std::string("this is a ") + other.name +
                                   " file, which is not read as a picture; " + other.way_out);
    return read_by_stb(path, bytes);
}

namespace {

std::vector<std::byte> bytes_of_picture(const std::string& path) {
    if (std::filesystem::is_directory(path))
        fail_picture(path, "this is a folder; name a PNG, JPEG, HDR or EXR file");
    return read_whole_file(path);
}

std::string_view as_text(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Samples read_samples(const std::string& path) {
    return parse_samples(path, as_text(bytes_of_picture(path)));
}

NumbersOf read_floats(const std::string& path, int channels,
                      const Callback<float*(int width, int height)>& room) {
    const std::vector<std::byte> bytes = bytes_of_picture(path);
    if (is_hdr(as_text(bytes))) {
        read_hdr(path, as_text(bytes), channels, room);
        return {true, 0};
    }
    const Samples picture = parse_samples(path, as_text(bytes));
    to_floats(picture, channels, room(picture.width, picture.height));
    return {!picture.light.empty(), picture.gamma};
}

}  // namespace firn
