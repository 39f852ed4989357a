// How the panel looks: its font, colours and distances.
#pragma once

namespace firn {

// Of the current context of Dear ImGui; `scale` is that of the display.

constexpr float kPanelPadding = 12;  // pixels at scale 1

void load_font(float scale);
void apply_theme(float scale);

}  // namespace firn
