// Reads folders of pictures as training data; not part of firn/firn.h.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "compiler/files/stored_tensor.h"

namespace firn {

/// Pictures by class: those of a folder's subfolders, one class each, or of a folder without any.
struct PictureFolder {
    std::vector<std::string> classes;  ///< names of the subfolders, in order; empty: all are of one
                                       ///< class
    std::vector<std::string> files;    ///< .png, .jpg and .jpeg, in order
    std::vector<int> labels;           ///< class of each file
};
/// Lists the pictures of a folder by class, in the order of their names. Pictures beside
/// subfolders, and those deeper, are left out. UserError: no such folder, or no pictures in it.
///
/// Examples: after `save_image("cat.png", ones({4, 6})); PictureFolder found = find_pictures(".");`
/// `found.classes.size()` is `0`, `found.labels[0]` is `0`.
PictureFolder find_pictures(const std::string& folder);

/// The size of pictures in a batch.
struct PictureBatchOptions {
    int height = 64, width = 64;
};
/// Reads the pictures `which` as u8 [count, height, width, 3]. Each is scaled to cover that size (a
/// pixel is the mean of the area that it covers) and cropped around its middle. Reads on the host
/// and uses no session, so that Prefetch can call it. UserError: a file that is no picture, a
/// position beyond the list.
///
/// Example: after `save_image("cat.png", ones({4, 6})); PictureFolder found = find_pictures(".");`
/// `const std::vector<int64_t> which{0, 0};`
/// `read_pictures(found, which, {.height = 2, .width = 2}).shape` is `{2, 2, 2, 3}`.
StoredTensor read_pictures(const PictureFolder& folder, std::span<const int64_t> which,
                           const PictureBatchOptions& options = {});

}  // namespace firn
