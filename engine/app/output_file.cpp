// Names of files for frames: endings, and numbers in them.
#include "engine/app/output_file.h"

#include <cctype>
#include <filesystem>

#include "compiler/base/error.h"
#include "engine/window/picture.h"

namespace firn {
namespace {

constexpr int kMostDigits = 9;

/// A %d or %04d, and its position.
struct Number {
    size_t begin = std::string::npos, end = 0;
    int digits = 1;
};

/// Throws UserError if a % is no %d or %04d, or is the second one.
Number number_in(const std::string& path) {
    Number number;
    const size_t begin = path.find('%');
    if (begin == std::string::npos) return number;
    size_t at = begin + 1;
    if (at + 1 < path.size() && path[at] == '0' && std::isdigit(path[at + 1])) {
        number.digits = path[at + 1] - '0';
        at += 2;
    }
    if (at >= path.size() || path[at] != 'd' || number.digits < 1 || number.digits > kMostDigits ||
        path.find('%', at) != std::string::npos)
        throw UserError("the % in it must be one number of the frame, such as frame_%04d.png");
    number.begin = begin, number.end = at + 1;
    return number;
}

}  // namespace

OutputFile output_file(const std::string& path) {
    if (path.empty()) return {};
    const std::string ending = ending_of(path);
    OutputFile file;
    file.path = path;
    using Kind = OutputFile::Kind;
    for (auto [known, kind] : {std::pair{".png", Kind::Picture},
                               {".jpg", Kind::Picture},
                               {".jpeg", Kind::Picture},
                               {".exr", Kind::Light},
                               {".hdr", Kind::Light},
                               {".npy", Kind::Npy},
                               {".mp4", Kind::Video},
                               {".gif", Kind::Gif}})
        if (ending == known) file.kind = kind;
    if (file.kind == Kind::None)
        throw UserError(
            "the name must end in .png, .jpg, .exr, .hdr or .npy (the last frame; all of them with "
            "a "
            "number, such as frame_%04d.png), or in .mp4 or .gif");
    file.sequence = number_in(path).begin != std::string::npos;
    if (file.sequence && (file.kind == Kind::Video || file.kind == Kind::Gif))
        throw UserError("a video is one file; leave the % out, or name pictures");
    return file;
}

std::string frame_path(const OutputFile& file, int number) {
    const Number at = number_in(file.path);
    std::string digits = std::to_string(number);
    const auto wanted = static_cast<size_t>(at.digits);
    if (digits.size() < wanted) digits.insert(0, wanted - digits.size(), '0');
    return std::string(file.path).replace(at.begin, at.end - at.begin, digits);
}

}  // namespace firn
