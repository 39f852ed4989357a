// Rasterises the typeface at one size and lays texts out.
#include "engine/window/glyph_atlas.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/window/typeface.h"

namespace firn {
namespace {

/// The largest rasterised size. Larger letters are stretched, since their atlas would take
/// megabytes and a tenth of a second.
constexpr float kLargest = 96;
/// The glyphs of numbers, in the order of draw_text.vert.
constexpr char kNumberGlyphs[] = "0123456789.-+eainf";

std::vector<uint32_t> characters_of(const std::string& text) {
    std::vector<uint32_t> out;
    const char *at = text.data(), *end = at + text.size();
    while (at < end) {
        unsigned character = 0;
        const int bytes = ImTextCharFromUtf8(&character, at, end);
        at += std::max(bytes, 1);
        out.push_back(character);
    }
    return out;
}

}  // namespace

GlyphAtlas::GlyphAtlas(const std::shared_ptr<Device>& device, float pixels)
    : pixels_(pixels), atlas_(std::make_unique<ImFontAtlas>()) {
    const float rasterised = std::min(pixels, kLargest);
    stretch_ = pixels / rasterised;
    font_ = rasterise_typeface(*atlas_, rasterised);
    unsigned char* bytes = nullptr;
    int width = 0, height = 0;
    atlas_->GetTexDataAsAlpha8(&bytes, &width, &height);
    const size_t count = static_cast<size_t>(width) * static_cast<size_t>(height);
    std::vector<std::byte> texels((count + 3) / 4 * 4);
    std::memcpy(texels.data(), bytes, count);
    texels_ = create_buffer(device, texels.size(), "glyphs");
    write_buffer(*texels_, 0, texels);
}

GlyphAtlas::~GlyphAtlas() = default;

std::array<int32_t, 2> GlyphAtlas::size() const { return {atlas_->TexWidth, atlas_->TexHeight}; }

PlacedGlyph GlyphAtlas::placed(uint32_t character) const {
    const ImFontGlyph& from = *font_->FindGlyph(static_cast<ImWchar>(character));
    const auto wide = static_cast<float>(atlas_->TexWidth);
    const auto high = static_cast<float>(atlas_->TexHeight);
    PlacedGlyph glyph;
    glyph.advance = from.AdvanceX * stretch_;
    glyph.x = from.X0 * stretch_, glyph.y = from.Y0 * stretch_;
    if (from.Visible) glyph.width = (from.X1 - from.X0) * stretch_;
    glyph.height = (from.Y1 - from.Y0) * stretch_;
    glyph.u = from.U0 * wide, glyph.texels_wide = (from.U1 - from.U0) * wide;
    glyph.v = from.V0 * high, glyph.texels_high = (from.V1 - from.V0) * high;
    return glyph;
}

void GlyphAtlas::lay_out(const std::string& text, uint32_t label, const std::array<float, 2>& align,
                         std::vector<PlacedGlyph>& out) const {
    const std::vector<uint32_t> characters = characters_of(text);
    const auto lines = 1 + std::count(characters.begin(), characters.end(), uint32_t{'\n'});
    float y = -std::round(align[1] * static_cast<float>(lines) * pixels_), x = 0;
    size_t line_begin = out.size();
    const auto end_line = [&] {
        const float left = std::floor(align[0] * x + 0.5f);  // as the shader does
        for (size_t k = line_begin; k < out.size(); ++k) out[k].x -= left;
        line_begin = out.size();
        y += pixels_, x = 0;
    };
    for (uint32_t character : characters) {
        if (character == '\n') {
            end_line();
            continue;
        }
        PlacedGlyph glyph = placed(character);
        glyph.label = label;
        glyph.x += x, glyph.y += y;
        x += glyph.advance;
        if (glyph.width > 0) out.push_back(glyph);
    }
    end_line();
}

std::vector<PlacedGlyph> GlyphAtlas::number_glyphs(float align_y) const {
    std::vector<PlacedGlyph> out;
    for (const char* letter = kNumberGlyphs; *letter; ++letter) {
        PlacedGlyph& glyph = out.emplace_back(placed(static_cast<unsigned char>(*letter)));
        glyph.y -= std::round(align_y * pixels_);
    }
    return out;
}

}  // namespace firn
