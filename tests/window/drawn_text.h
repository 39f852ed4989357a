// Text as a person reads it: found again in the vertices that Dear ImGui has drawn.
#pragma once
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "engine/window/view.h"

namespace firn {

/// A letter that was drawn: the place of its pen, and how far the pen moves on.
struct DrawnLetter {
    unsigned code = 0;
    float x = 0, y = 0, advance = 0;
};

/// Returns the visible letters whose middle lies in a rectangle, in the order in which they were
/// drawn. Letters that a field cuts at its edge are left out, and so are blanks.
inline std::vector<DrawnLetter> drawn_letters(const ImDrawData& drawn, const ImFontAtlas& atlas,
                                              const Rectangle& within) {
    std::map<std::array<float, 4>, const ImFontGlyph*> known;  // by its place in the atlas
    for (const ImFont* font : atlas.Fonts)
        for (const ImFontGlyph& glyph : font->Glyphs)
            if (glyph.Visible) known[{glyph.U0, glyph.V0, glyph.U1, glyph.V1}] = &glyph;
    std::vector<DrawnLetter> out;
    for (int k = 0; k < drawn.CmdListsCount; ++k) {
        const ImDrawList& list = *drawn.CmdLists[k];
        for (const ImDrawCmd& command : list.CmdBuffer)
            for (unsigned at = 0; at + 6 <= command.ElemCount; at += 3) {
                const auto corner = [&](unsigned index) -> const ImDrawVert& {
                    return list.VtxBuffer[static_cast<int>(
                        command.VtxOffset +
                        list.IdxBuffer[static_cast<int>(command.IdxOffset + at + index)])];
                };
                const ImDrawVert &from = corner(0), &to = corner(2);
                const auto found = known.find({from.uv.x, from.uv.y, to.uv.x, to.uv.y});
                if (found == known.end()) continue;
                const ImFontGlyph& glyph = *found->second;
                const float x = (from.pos.x + to.pos.x) / 2, y = (from.pos.y + to.pos.y) / 2;
                const ImVec4& clip = command.ClipRect;
                const bool seen = x >= clip.x && y >= clip.y && x < clip.z && y < clip.w;
                if (seen && x >= within.x && y >= within.y && x < within.x + within.width &&
                    y < within.y + within.height)
                    out.push_back({glyph.Codepoint, from.pos.x - glyph.X0, from.pos.y - glyph.Y0,
                                   glyph.AdvanceX});
                at += 3;  // a letter has two triangles
            }
    }
    return out;
}

/// Returns the text in a rectangle, a line for each row of letters from the top down. Wider gaps
/// are one blank; letters beyond ASCII are '?'.
inline std::string drawn_text(const ImDrawData& drawn, const ImFontAtlas& atlas,
                              const Rectangle& within) {
    constexpr float kSameRow = 2;
    std::vector<DrawnLetter> letters = drawn_letters(drawn, atlas, within);
    std::sort(letters.begin(), letters.end(),
              [](const DrawnLetter& a, const DrawnLetter& b) { return a.y < b.y; });
    std::string out;
    for (size_t first = 0, last = 0; first < letters.size(); first = last) {
        while (last < letters.size() && letters[last].y - letters[first].y < kSameRow) ++last;
        std::sort(letters.begin() + static_cast<std::ptrdiff_t>(first),
                  letters.begin() + static_cast<std::ptrdiff_t>(last),
                  [](const DrawnLetter& a, const DrawnLetter& b) { return a.x < b.x; });
        for (size_t k = first; k < last; ++k) {
            const DrawnLetter& letter = letters[k];
            if (k > first && letter.x > letters[k - 1].x + letters[k - 1].advance + 1) out += ' ';
            out += letter.code < 128 ? static_cast<char>(letter.code) : '?';
        }
        out += '\n';
    }
    return out;
}

}  // namespace firn
