// The typefaces of panels, drawings and code, which the library carries.
#pragma once
#include <cstddef>
#include <span>

struct ImFont;
struct ImFontAtlas;

namespace firn {

/// Returns the typeface's file, TrueType or OpenType, as it was embedded when the library was
/// built.
std::span<const unsigned char> typeface_file();
/// Returns the file of the typeface for code, all of whose letters are equally wide.
std::span<const unsigned char> code_typeface_file();

/// Rasterises the typeface at lines of so many pixels and builds the atlas, which refers to the
/// file. All digits are equally wide, so that digits stay in place when numbers change. The
/// typeface for code, if it is wanted, is the second font of the atlas.
ImFont* rasterise_typeface(ImFontAtlas& atlas, float pixels, bool with_code = false);

}  // namespace firn
