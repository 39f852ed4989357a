// Draws the widgets of a Gui as a panel, with the window's own controls and times, through Dear
// ImGui.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/executor.h"
#include "engine/window/gui.h"
#include "engine/window/message_log.h"
#include "engine/window/panel_layout.h"
#include "engine/window/raw_input.h"
#include "engine/window/view.h"

struct ImGuiContext;
struct ImDrawData;

namespace firn {

class OsWindow;

/// What the person says to the question before a window ends.
enum class EndAnswer : uint8_t { None, Save, End, Stay };

/// What the window tells the panel.
struct PanelState {
    std::string title, device;
    double frame_milliseconds = 0;  // 0: not known, and not shown
    bool paused = false;
    float seconds = 1.0f / 60;        // since the last frame
    std::vector<KernelTime> kernels;  // of `kernel_frames` frames
    int kernel_frames = 1;
    std::vector<std::string> messages;  // of the window to the person, the newest last
    std::string work;                   // that goes on; empty: none
    double share = -1;                  // of it that is done; below 0: not known
    const MessageLog* log = nullptr;    // all messages; null: none are kept
    bool log_open = false;
    bool keys_open = false;
    std::string keys;       // of the program itself
    bool in_space = false;  // the keys and the mouse move a camera
    std::string hint;       // the value under the mouse; empty: none
    bool hidden = false;    // the panel: what is said stays
    /// Of a window whose panel is hidden, and takes no input.
    float width = 0, height = 0, mouse_x = -1e9f, mouse_y = -1e9f;
    /// The right button was clicked on a picture: its menu opens there. What the picture is, its
    /// value there, and the endings that it can be saved with.
    bool opens_menu = false;
    std::string menu_title, menu_value;
    std::vector<std::string> menu_endings;
    std::string question;   // the work that ending now would lose; empty: nothing is asked
    bool can_save = false;  // before it ends
    bool can_record = false;
    std::string recording;   // how far a video is; empty: none is recorded
    double video_rate = 60;  // frames a second that videos play; 0: as many as are drawn
};

/// Where a part of the panel is, in pixels.
struct PlacedPart {
    std::string name;
    Rectangle rectangle;
};

/// What the person asked the window for by the panel.
struct PanelActions {
    bool pause = false, step = false, reset = false, screenshot = false;
    bool kernels_open = false;  // kernel times are looked at
    bool keys = false;          // opens or closes their sheet
    bool log = false;           // opens or closes the window of all messages
    bool defaults = false;
    bool record = false;  // begins or ends a video
    bool close_inspector = false;
    bool menu_opened = false;
    EndAnswer answer = EndAnswer::None;
    std::string save_picture;  // by its ending
    std::string save_plot;     // by its name
    std::optional<double> video_rate;
    std::string save_preset, load_preset;  // where to and from
    std::vector<PlacedPart> places;        // of what is no widget, for tests
    std::string refused;                   // why a typed value was not taken as it is
};

/// Where the person wants the panel: it comes back there when the window allows it again.
struct PanelPlace {
    PanelLayout layout;
    float width = 0, height = 0;  // of the window that it was drawn in last; 0: never
    float room = 0;               // that it leaves below for what is said, in pixels
    Rectangle drawn;              // last
};

/// One byte of coverage per texel.
struct FontAtlas {
    const unsigned char* texels = nullptr;
    int width = 0, height = 0;
};

/// Owns a Dear ImGui context of its own.
class GuiPanel {
  public:
    /// `scale`: of the display, 1 for 96 dots per inch. `window`, where there is one, has the
    /// clipboard.
    GuiPanel(float scale, bool light, OsWindow* window);
    ~GuiPanel();
    GuiPanel(const GuiPanel&) = delete;
    GuiPanel& operator=(const GuiPanel&) = delete;

    FontAtlas atlas() const;
    /// Input of a frame: begin_input, then sees() and take() for each event in order, then
    /// end_input, from which on wants_mouse and wants_keys speak of it. Variables change here. An
    /// event that Dear ImGui cannot tell from those before within one of its frames gets another.
    void begin_input(Gui& gui, const PanelState& state, float width, float height,
                     PanelActions& actions);
    /// Whether the press of a key or a button will be the panel's.
    bool sees(Gui& gui, const InputEvent& event, const PanelState& state, PanelActions& actions);
    void take(Gui& gui, InputEvent& event, const PanelState& state, PanelActions& actions);
    void end_input(Gui& gui, const RawInput& input, const PanelState& state, PanelActions& actions);
    /// Draws what was taken last; the data lives until the next call.
    const ImDrawData* draw(Gui& gui, const PanelState& state, PanelActions& actions);
    /// The same as it looks in a picture of that size, without input.
    const ImDrawData* draw_in(Gui& gui, const PanelState& state, float width, float height);
    /// More windows of Dear ImGui beside the panel, in every frame; null: none.
    void draw_beside(std::function<void(float scale, PanelActions&)> draw) {
        beside_ = std::move(draw);
    }
    /// As the person has it now; set before it is drawn first.
    const PanelLayout& layout() const { return place_.layout; }
    void set_layout(const PanelLayout& layout) { place_.layout = layout; }
    /// Closes the innermost menu, list or picker; false where none is open.
    bool close_popup();
    /// The mouse is over the panel, or drags something of it.
    bool wants_mouse() const;
    /// A text field has the keyboard.
    bool wants_keys() const;
    /// The button is down since it was pressed on the panel.
    bool has_button(int button) const { return has_button_[button]; }

  private:
    void begin(float seconds);
    void end(Gui& gui, const PanelState& state, PanelActions& actions);
    void lay_out(Gui& gui, const PanelState& state, PanelActions& actions);
    void take_key(const InputEvent& event, Gui& gui, const PanelState& state,
                  PanelActions& actions);

    float scale_;
    ImGuiContext* context_ = nullptr;
    PanelPlace place_;
    std::function<void(float, PanelActions&)> beside_;
    LogView log_;
    bool begun_ = false;    // a frame of ImGui that is not drawn yet
    bool waiting_ = false;  // something for the next one
    bool typing_ = false;   // a text field has the keyboard
    bool has_button_[3] = {};
};

}  // namespace firn
