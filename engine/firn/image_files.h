// Reads and writes picture files as tensors.
#pragma once
#include <string>
#include <vector>

#include "compiler/files/tensor_files.h"
#include "compiler/frontend/tensor.h"

namespace firn {

/// Options of load_image.
struct LoadImageOptions {
    /// Returns amounts of light: numbers of PNG and JPEG are made linear (by a PNG's gAMA if it has
    /// no sRGB and no iCCP, else by srgb_to_linear); those of HDR and EXR are linear already.
    bool linear = false;
    /// The layer of an EXR (or the part, in a file of several) to read, such as "normal" or
    /// "ViewLayer.AO". Empty: the channels without a layer's name, else the only layer, else the
    /// one that Blender calls Combined.
    std::string layer = {};
    /// Returns alpha too, f32[h, w, 4]; it is 1 if the file has none. Colours stay as the file has
    /// them: those of EXR are multiplied by alpha, those of PNG are not.
    bool alpha = false;
};
/// Reads a picture file as f32[h, w, 3], recognised by its contents and not by its name: PNG, JPEG,
/// PNM (PBM, PGM and PPM), BMP, TGA, PSD, and the first picture of a GIF from 0 to 1, of 8 and 16
/// bits; Radiance HDR and OpenEXR as they are: every compression, halves, floats and integers, scan
/// lines and tiles. Grey is three equal channels. The orientation that EXIF names is applied.
/// UserError: the file is none of them, is not there, is damaged or cut short, has more pixels than
/// fit, has no such layer, or has several and none was named.
///
/// Examples: after `save_image("grey.png", tensor({0.0f, 0.5f}, {1, 2}));` `load_image("grey.png")`
/// is `{{{0, 0, 0}, {0.501961, 0.501961, 0.501961}}}`,
/// `load_image("grey.png", {.linear = true})(0, 1)` is `{0.215861, 0.215861, 0.215861}`,
/// `load_image("grey.png", {.alpha = true})(0, 0)` is `{0, 0, 0, 1}`.
Tensor load_image(const std::string& path, const LoadImageOptions& options = {},
                  SourceLine line = here());

/// Options of save_image.
struct SaveImageOptions {
    /// Bits of a channel: 8 or 16 in a PNG, 16 (half floats) or 32 in an EXR. 0: chosen by the type
    /// of the elements, 16 for u16 in a PNG and for f16 in an EXR, else 8 and 32.
    int bits = 0;
};
/// Writes [h, w], [h, w, 1], [h, w, 3] or [h, w, 4] by the ending of the name, whole or not at all:
/// .png with as many channels, and .jpg without alpha and up to 65,500 pixels a side, with values
/// from 0 to 1 (what is beyond is cut off, nan is 0); .exr with every value and as many channels,
/// u32 as integers; .hdr without alpha, from 0 to 1.7e38 (what is beyond, as infinity is, becomes
/// that). Elements of type u8 count in steps of 1/255, of u16 of 1/65535. UserError: another ending
/// or shape, a file that cannot be written.
///
/// Examples: after `Tensor x = full({1, 1, 3}, 2.5f); save_image("x.png", x); save_image("x.exr",
/// x);` `load_image("x.png")` is `{{{1, 1, 1}}}`, `load_image("x.exr")` is `{{{2.5, 2.5, 2.5}}}`.
void save_image(const std::string& path, const Tensor& x, const SaveImageOptions& options = {},
                SourceLine line = here());

/// Writes several pictures of one size as the layers of an .exr, each in the type of its elements,
/// as above; the one whose name is empty is the picture that other programs show. UserError:
/// another ending, none, two of one name, sizes that differ.
///
/// Example: after `Tensor rgb = full({1, 1, 3}, 2.5f), far = full({1, 1}, 7.0f);`
/// `save_image("beauty.exr", {{"", rgb}, {"depth", far}});`
/// `load_image("beauty.exr", {.layer = "depth"})` is `{{{7, 7, 7}}}`.
void save_image(const std::string& path, const std::vector<NamedTensor>& layers,
                const SaveImageOptions& options = {}, SourceLine line = here());

}  // namespace firn
