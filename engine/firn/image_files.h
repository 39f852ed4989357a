// Tensors from picture files, and as picture files.
#pragma once
#include <string>

#include "compiler/frontend/tensor.h"

namespace firn {

/// What the numbers of a picture become.
struct LoadImageOptions {
    /// Amounts of light: numbers of PNG and JPEG are made linear (srgb_to_linear), those of HDR and
    /// EXR are.
    bool linear = false;
    /// Of an EXR: the layer (or the part of a file of several) that is read, "normal" or
    /// "ViewLayer.AO". Empty: the channels without a layer's name, else the only layer, else the
    /// one that Blender calls Combined.
    std::string layer = {};
};
/// A picture file as f32[h, w, 3]: PNG of 8 and 16 bits and JPEG from 0 to 1, Radiance HDR and
/// OpenEXR as they are: every compression, halves, floats and integers, scan lines and tiles. Alpha
/// is left out. UserError: the file is none of them, is not there, is damaged, has more pixels than
/// fit, has no such layer, or has several and none was named.
///
/// Examples: after `save_image("grey.png", tensor({0.0f, 0.5f}, {1, 2}));` `load_image("grey.png")`
/// is `{{{0, 0, 0}, {0.501961, 0.501961, 0.501961}}}`,
/// `load_image("grey.png", {.linear = true})(0, 1)` is `{0.215861, 0.215861, 0.215861}`.
Tensor load_image(const std::string& path, const LoadImageOptions& options = {},
                  SourceLine line = here());

/// How a picture is written.
struct SaveImageOptions {
    int bits = 0;  ///< of a channel of a PNG, 8 or 16; 0: 16 for u16, otherwise 8
};
/// Writes [h, w], [h, w, 1], [h, w, 3] or [h, w, 4] by the ending of the name, whole or not at all:
/// .png and, without alpha, .jpg with values from 0 to 1 (what is beyond is cut off, nan is 0);
/// .exr and .hdr with every value, without alpha. Elements of type u8 count in steps of 1/255, of
/// u16 of 1/65535. UserError: another ending or shape, 64-bit elements, a file that cannot be
/// written.
///
/// Examples: after `Tensor x = full({1, 1, 3}, 2.5f); save_image("x.png", x); save_image("x.exr",
/// x);` `load_image("x.png")` is `{{{1, 1, 1}}}`, `load_image("x.exr")` is `{{{2.5, 2.5, 2.5}}}`.
void save_image(const std::string& path, const Tensor& x, const SaveImageOptions& options = {},
                SourceLine line = here());

}  // namespace firn
