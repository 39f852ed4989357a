// The typeface at one size in device memory, and texts laid out by it.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/gpu/buffer.h"

struct ImFont;
struct ImFontAtlas;

namespace firn {

/// A glyph with its place, as draw_text.vert reads it.
struct PlacedGlyph {
    uint32_t label = 0;
    float advance = 0;
    float x = 0, y = 0, width = 0, height = 0;  // pixels from the label's place
    float u = 0, v = 0, texels_wide = 0, texels_high = 0;
};

class GlyphAtlas {
  public:
    /// `pixels`: the height of a line.
    GlyphAtlas(const std::shared_ptr<Device>& device, float pixels);
    ~GlyphAtlas();
    GlyphAtlas(const GlyphAtlas&) = delete;
    GlyphAtlas& operator=(const GlyphAtlas&) = delete;

    float pixels() const { return pixels_; }
    const Buffer& texels() const { return *texels_; }
    std::array<int32_t, 2> size() const;

    /// Adds the glyphs of a text of several lines, in UTF-8, to `out`; `align` as in DrawText.
    void lay_out(const std::string& text, uint32_t label, const std::array<float, 2>& align,
                 std::vector<PlacedGlyph>& out) const;
    /// Returns the glyphs of numbers, each from its own origin.
    std::vector<PlacedGlyph> number_glyphs(float align_y) const;

  private:
    PlacedGlyph placed(uint32_t character) const;

    float pixels_;
    std::unique_ptr<ImFontAtlas> atlas_;
    const ImFont* font_ = nullptr;
    float stretch_ = 1;  // of glyphs, which are not rasterised at large sizes
    std::shared_ptr<Buffer> texels_;
};

}  // namespace firn
