// The typeface of panels and drawings, which the library carries.
#pragma once
#include <cstddef>
#include <span>

struct ImFont;
struct ImFontAtlas;

namespace firn {

/// Its file, TrueType or OpenType, as it was embedded when the library was built.
std::span<const unsigned char> typeface_file();

/// Rasterises it at lines of so many pixels and builds the atlas, which refers to the file. All
/// digits are equally wide, so that numbers that change keep their places.
ImFont* rasterise_typeface(ImFontAtlas& atlas, float pixels);

}  // namespace firn
