// Draws the widgets of a Gui as a panel, with the window's own controls and times, through Dear
// ImGui.
#pragma once
#include <string>
#include <vector>

#include "compiler/program/executor.h"
#include "engine/window/gui.h"
#include "engine/window/raw_input.h"

struct ImGuiContext;
struct ImDrawData;

namespace firn {

/// What the window tells the panel.
struct PanelState {
    std::string title, device;
    double frame_milliseconds = 0;  // 0: not known, and not shown
    bool paused = false;
    float seconds = 1.0f / 60;        // since the last frame
    std::vector<KernelTime> kernels;  // of `kernel_frames` frames
    int kernel_frames = 1;
};

/// What the person asked the window for by the panel.
struct PanelActions {
    bool pause = false, step = false, reset = false, screenshot = false;
    bool kernels_open = false;  // kernel times are looked at
};

/// One byte of coverage per texel.
struct FontAtlas {
    const unsigned char* texels = nullptr;
    int width = 0, height = 0;
};

/// Owns a Dear ImGui context of its own.
class GuiPanel {
  public:
    /// `scale`: of the display, 1 for 96 dots per inch.
    explicit GuiPanel(float scale);
    ~GuiPanel();
    GuiPanel(const GuiPanel&) = delete;
    GuiPanel& operator=(const GuiPanel&) = delete;

    FontAtlas atlas() const;
    /// Lets the widgets see the input and draws them; variables change here. The draw data lives
    /// until the next update.
    const ImDrawData* update(Gui& gui, const RawInput& input, const PanelState& state, float width,
                             float height, PanelActions& actions);
    bool wants_mouse() const;
    bool wants_keys() const;

  private:
    void feed(const RawInput& input, float seconds, float width, float height);

    float scale_;
    ImGuiContext* context_ = nullptr;
};

}  // namespace firn
