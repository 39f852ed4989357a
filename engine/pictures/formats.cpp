// Which format a picture file has.
#include "engine/pictures/formats.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "compiler/program/whole_file.h"
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

}  // namespace

Samples parse_samples(const std::string& path, std::string_view bytes) {
    const auto format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                     [&](const Format& each) { return each.begins(bytes); });
    return (format == std::end(kFormats) ? read_by_stb : format->read)(path, bytes);
}

Samples read_samples(const std::string& path) {
    if (std::filesystem::is_directory(path))
        fail_picture(path, "this is a folder; name a PNG, JPEG, HDR or EXR file");
    const std::vector<std::byte> bytes = read_whole_file(path);
    return parse_samples(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace firn
