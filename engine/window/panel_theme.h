// How the panel looks: its font, colours and distances.
#pragma once
#include <imgui.h>

namespace firn {

// Of the current context of Dear ImGui; `scale` is that of the display.

constexpr float kPanelPadding = 12;  // pixels at scale 1

void load_font(float scale);
/// Light on dark, or dark on light.
void apply_theme(float scale, bool light);

/// Text beside what matters more, and what should be seen.
ImVec4 dim_text();
ImVec4 loud_text();
/// The colour of text, fainter: for lines that help the eye.
ImU32 faint_line(float opacity);
bool is_light_theme();

}  // namespace firn
