// Tensors from picture files, and as picture files.
#pragma once
#include <string>

#include "compiler/frontend/tensor.h"

namespace firn {

struct LoadImageOptions {
    /// Amounts of light: numbers of PNG and JPEG are made linear (srgb_to_linear), those of HDR and
    /// EXR are.
    bool linear = false;
};
/// A picture file as f32[h, w, 3]: PNG of 8 and 16 bits and JPEG from 0 to 1, Radiance HDR and
/// OpenEXR as they are. Alpha is left out. UserError: the file is none of them, is not there, or
/// has more pixels than fit.
Tensor load_image(const std::string& path, const LoadImageOptions& options = {},
                  SourceLine line = here());

struct SaveImageOptions {
    int bits = 0;  // of a channel of a PNG, 8 or 16; 0: 16 for u16, otherwise 8
};
/// Writes [h, w], [h, w, 1], [h, w, 3] or [h, w, 4] by the ending of the name, whole or not at all:
/// .png and, without alpha, .jpg with values from 0 to 1 (what is beyond is cut off, nan is 0);
/// .exr and .hdr with every value, without alpha. Elements of type u8 count in steps of 1/255, of
/// u16 of 1/65535. UserError: another ending or shape, 64-bit elements, a file that cannot be
/// written.
void save_image(const std::string& path, const Tensor& x, const SaveImageOptions& options = {},
                SourceLine line = here());

}  // namespace firn
