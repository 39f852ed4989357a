// Rasterises the typefaces through Dear ImGui's atlas.
#include "engine/window/typeface.h"

#include <imgui.h>

#include <algorithm>

#include "compiler/base/error.h"

namespace firn {
namespace {

/// Characters: Latin with accents, Greek, dashes and quotes, super- and subscripts, arrows,
/// mathematics.
constexpr ImWchar kRanges[] = {0x20,   0xff,   0x370,  0x3ff,  0x2010, 0x2026, 0x2032, 0x2033,
                               0x2070, 0x209c, 0x2190, 0x2193, 0x2202, 0x2265, 0};

/// The scale of the typeface for code, whose letters look larger than those of panels.
constexpr float kCodeSize = 0.88f;
constexpr ImWchar kCodeRanges[] = {0x20, 0xff, 0};

ImFont* add(ImFontAtlas& atlas, std::span<const unsigned char> file, float pixels,
            const ImWchar* ranges) {
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    return atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(file.data()),
                                      static_cast<int>(file.size()), pixels, &config, ranges);
}

/// Makes all digits equally wide. OpenType has such digits in a table that the rasteriser does not
/// read.
void even_digits(ImFont& font) {
    float widest = 0;
    const auto is_digit = [](const ImFontGlyph& glyph) {
        return glyph.Codepoint >= '0' && glyph.Codepoint <= '9';
    };
    for (const ImFontGlyph& glyph : font.Glyphs)
        if (is_digit(glyph)) widest = std::max(widest, glyph.AdvanceX);
    for (ImFontGlyph& glyph : font.Glyphs) {
        if (!is_digit(glyph)) continue;
        const float margin = (widest - glyph.AdvanceX) / 2;
        glyph.X0 += margin, glyph.X1 += margin;
        glyph.AdvanceX = widest;
    }
    font.BuildLookupTable();
}

}  // namespace

ImFont* rasterise_typeface(ImFontAtlas& atlas, float pixels, bool with_code) {
    ImFont* font = add(atlas, typeface_file(), pixels, kRanges);
    if (with_code) add(atlas, code_typeface_file(), kCodeSize * pixels, kCodeRanges);
    ensure(atlas.Build(), "the embedded typeface was not rasterised");
    even_digits(*font);
    return font;
}

}  // namespace firn
