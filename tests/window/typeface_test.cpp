// The typeface that the library carries: its glyphs, at several sizes.
#include "engine/window/typeface.h"

#include <gtest/gtest.h>
#include <imgui.h>

namespace firn {
namespace {

TEST(Typeface, HasWhatMessagesAndUnitsAreWrittenIn) {
    ImFontAtlas atlas;
    const ImFont* font = rasterise_typeface(atlas, 17);
    for (ImWchar c : {0x41, 0xb2, 0xb5, 0xd7, 0x3b1, 0x394, 0x2013, 0x2026, 0x2192, 0x2202, 0x2264})
        EXPECT_NE(font->FindGlyphNoFallback(c), nullptr) << std::hex << c;
}
TEST(Typeface, DigitsAreEquallyWideSoThatNumbersKeepTheirPlaces) {
    ImFontAtlas atlas;
    const ImFont* font = rasterise_typeface(atlas, 17);
    const float width = font->FindGlyph('0')->AdvanceX;
    for (ImWchar c = '0'; c <= '9'; ++c) {
        EXPECT_EQ(font->FindGlyph(c)->AdvanceX, width) << c;
        EXPECT_EQ(font->GetCharAdvance(c), width) << c;
    }
    const ImFontGlyph& one = *font->FindGlyph('1');  // in the middle of its width
    EXPECT_NEAR(one.X0, width - one.X1, 0.2f * width);
}
TEST(Typeface, OfCodeAllLettersAreEquallyWide) {
    ImFontAtlas atlas;
    const ImFont* font = rasterise_typeface(atlas, 17, true);
    ASSERT_EQ(atlas.Fonts.Size, 2);
    const ImFont* code = atlas.Fonts[1];
    for (ImWchar c = ' ' + 1; c < 0x7f; ++c)
        EXPECT_EQ(code->GetCharAdvance(c), code->GetCharAdvance('m')) << char(c);
    EXPECT_NE(font->GetCharAdvance('i'), font->GetCharAdvance('m'));
}
TEST(Typeface, IsRasterisedAtEachSizeAndNotStretched) {
    ImFontAtlas small, large;
    const ImFontGlyph one = *rasterise_typeface(small, 12)->FindGlyph('H');
    const ImFontGlyph three = *rasterise_typeface(large, 36)->FindGlyph('H');
    EXPECT_NEAR(three.Y1 - three.Y0, 3 * (one.Y1 - one.Y0), 2);
    const float texels = (three.V1 - three.V0) * static_cast<float>(large.TexHeight);
    EXPECT_FLOAT_EQ(texels, three.Y1 - three.Y0);  // one for each pixel
}

}  // namespace
}  // namespace firn
