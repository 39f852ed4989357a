// The looks of the panel: its font, colours and distances.
#pragma once
#include <imgui.h>

#include <string>

namespace firn {

// Applies to the current context of Dear ImGui; `scale` is the display's scale.

constexpr float kPanelPadding = 12;  // pixels at scale 1

void load_font(float scale);
/// Returns the font of code, whose letters are equally wide.
ImFont* code_font();
/// Sets light on dark, or dark on light.
void apply_theme(float scale, bool light);

/// Draws the text, cut if it is wider; a cut text is shown in full when the mouse rests on it.
void draw_fitting(const std::string& text, float width);
/// The colours of text that matters less, and of text that should be noticed.
ImVec4 dim_text();
ImVec4 loud_text();
/// Returns the colour of text, fainter, for lines that help the eye.
ImU32 faint_line(float opacity);
bool is_light_theme();

}  // namespace firn
