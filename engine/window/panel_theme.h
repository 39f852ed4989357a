// How the panel looks: its font, colours and distances.
#pragma once
#include <imgui.h>

#include <string>

namespace firn {

// Of the current context of Dear ImGui; `scale` is that of the display.

constexpr float kPanelPadding = 12;  // pixels at scale 1

void load_font(float scale);
/// In which code is shown: its letters are equally wide.
ImFont* code_font();
/// Light on dark, or dark on light.
void apply_theme(float scale, bool light);

/// The text, as far as it is no wider; one that is cut says all of it when the mouse rests on it.
void draw_fitting(const std::string& text, float width);
/// Text beside what matters more, and what should be seen.
ImVec4 dim_text();
ImVec4 loud_text();
/// The colour of text, fainter: for lines that help the eye.
ImU32 faint_line(float opacity);
bool is_light_theme();

}  // namespace firn
