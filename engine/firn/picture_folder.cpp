// Joins pictures of files to tensors on the host.
#include "engine/firn/picture_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "compiler/base/error.h"
#include "compiler/base/list_folder.h"
#include "compiler/base/long_work.h"
#include "engine/window/picture_scale.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

bool is_picture(const fs::path& path) {
    std::string end = path.extension().string();
    for (char& c : end) c = char(std::tolower(static_cast<unsigned char>(c)));
    return end == ".png" || end == ".jpg" || end == ".jpeg";
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    const FolderNames found = list_folder(folder.string());
    if (found.error != 0)
        throw UserError("folder " + folder.string() +
                        ": cannot be read: " + std::generic_category().message(found.error));
    std::vector<fs::path> out;
    for (const std::string& name : found.names) out.push_back(folder / name);
    return out;
}

void add_pictures(const fs::path& folder, int label, PictureFolder& out) {
    for (const fs::path& path : entries_of(folder)) {
        if (fs::is_directory(path) || !is_picture(path)) continue;
        out.files.push_back(path.string());
        out.labels.push_back(label);
    }
}

}  // namespace

PictureFolder find_pictures(const std::string& folder) {
    PictureFolder out;
    for (const fs::path& path : entries_of(folder)) {
        if (!fs::is_directory(path)) continue;
        add_pictures(path, int(out.classes.size()), out);
        out.classes.push_back(path.filename().string());
    }
    if (out.classes.empty()) add_pictures(folder, 0, out);
    if (out.files.empty())
        throw UserError("folder " + folder +
                        ": has no pictures (.png, .jpg, .jpeg), and no folders with some");
    return out;
}

StoredTensor read_pictures(const PictureFolder& folder, std::span<const int64_t> which,
                           const PictureBatchOptions& options) {
    StoredTensor out{"", u8, {int64_t(which.size()), options.height, options.width, 3}, {}};
    LongWork work;
    for (size_t k = 0; k < which.size(); ++k) {
        work.tell_or_end({"loading pictures, " + std::to_string(k) + " of " +
                              std::to_string(which.size()) + " done",
                          double(k) / double(which.size())});
        if (which[k] < 0 || which[k] >= int64_t(folder.files.size()))
            throw UserError("picture " + std::to_string(which[k]) + " of " +
                            std::to_string(folder.files.size()) + ", from 0");
        const Picture picture =
            covering(read_picture(folder.files[size_t(which[k])]), options.width, options.height);
        for (size_t at = 0; at < picture.rgba.size(); ++at)
            if (at % 4 != 3) out.bytes.push_back(std::byte(picture.rgba[at]));
    }
    return out;
}

}  // namespace firn
