// Folders of pictures as data to learn from, beside firn/firn.h.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "compiler/files/stored_tensor.h"

namespace firn {

/// Pictures by class: those of a folder's subfolders, one class each, or of a folder without any.
struct PictureFolder {
    std::vector<std::string> classes;  // names of the subfolders, in order; none: of one class
    std::vector<std::string> files;    // .png, .jpg and .jpeg, in order
    std::vector<int> labels;           // class of each file
};
/// UserError: no such folder, or no pictures in it.
PictureFolder find_pictures(const std::string& folder);

struct PictureBatchOptions {
    int height = 64, width = 64;
};
/// Some of them as u8 [count, height, width, 3], each scaled so that it covers that size, by means
/// over what a pixel covers, and cut around its middle. Reads on the host and uses no session, so
/// that Prefetch can call it. UserError: a file that is no picture, a position that is none.
StoredTensor read_pictures(const PictureFolder& folder, std::span<const int64_t> which,
                           const PictureBatchOptions& options = {});

}  // namespace firn
