// Linear pictures as OpenEXR files, through tinyexr.
#include "engine/app/exr.h"

#include <tinyexr.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "compiler/program/error.h"

namespace firn {
namespace {

/// The library's message, which it hands over to be freed; none where the disk was full.
std::string taken(const char* message) {
    if (!message) return "disk full?";
    std::string text = message;
    FreeEXRErrorMessage(message);
    while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
    return text;
}

}  // namespace

void write_exr(const std::string& path, const FloatPicture& picture) {
    const std::string temporary = path + "." + std::to_string(getpid()) + ".part";
    const char* message = nullptr;
    const int result = SaveEXR(picture.rgb.data(), picture.width, picture.height, 3, 0,
                               temporary.c_str(), &message);
    std::string reason = result == TINYEXR_SUCCESS ? "" : taken(message);
    std::error_code error;
    if (reason.empty()) {
        std::filesystem::rename(temporary, path, error);
        if (error) reason = error.message();
    }
    if (reason.empty()) return;
    std::filesystem::remove(temporary, error);
    throw UserError("picture " + path + ": cannot be written (" + reason +
                    "); name a file in a folder that exists and can be written to");
}

namespace {

/// The library computes with what the header says, so that is looked at first.
void check_size(const std::string& path) {
    EXRVersion version{};
    if (ParseEXRVersionFromFile(&version, path.c_str()) != TINYEXR_SUCCESS || version.multipart)
        return;
    EXRHeader header;
    InitEXRHeader(&header);
    const char* message = nullptr;
    if (ParseEXRHeaderFromFile(&header, &version, path.c_str(), &message) != TINYEXR_SUCCESS)
        throw UserError("picture " + path + ": cannot be read (" + taken(message) +
                        "); name an OpenEXR file with red, green and blue");
    const EXRBox2i window = header.data_window;
    FreeEXRHeader(&header);
    check_picture_size(path, int64_t{window.max_x} - window.min_x + 1,
                       int64_t{window.max_y} - window.min_y + 1);
}

}  // namespace

bool is_exr(const std::string& path) {
    EXRVersion version{};
    return ParseEXRVersionFromFile(&version, path.c_str()) == TINYEXR_SUCCESS;
}

FloatPicture read_exr(const std::string& path) {
    check_size(path);
    float* rgba = nullptr;
    const char* message = nullptr;
    FloatPicture picture;
    if (LoadEXR(&rgba, &picture.width, &picture.height, path.c_str(), &message) != TINYEXR_SUCCESS)
        throw UserError("picture " + path + ": cannot be read (" + taken(message) +
                        "); name an OpenEXR file with red, green and blue");
    const size_t pixels = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.height);
    picture.rgb.reserve(3 * pixels);
    for (size_t k = 0; k < pixels; ++k)
        picture.rgb.insert(picture.rgb.end(), {rgba[4 * k], rgba[4 * k + 1], rgba[4 * k + 2]});
    std::free(rgba);
    return picture;
}

}  // namespace firn
