// How the panel looks: its font, colours and distances.
#pragma once
#include <imgui.h>

namespace firn {

// Of the current context of Dear ImGui; `scale` is that of the display.

constexpr float kPanelPadding = 12;  // pixels at scale 1

/// Text beside what matters more, and what should be seen.
inline const ImVec4 kDim{0.58f, 0.62f, 0.68f, 1}, kLoud{0.98f, 0.74f, 0.36f, 1};

void load_font(float scale);
void apply_theme(float scale);

}  // namespace firn
