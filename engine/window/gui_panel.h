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

/// The person's answer to the question before a window ends.
enum class EndAnswer : uint8_t { None, Save, End, Stay };

/// The data that the window gives the panel.
struct PanelState {
    std::string title, device;
    double frame_milliseconds = 0;  // 0: not known, and not shown
    bool paused = false;
    float seconds = 1.0f / 60;        // since the last frame
    std::vector<KernelTime> kernels;  // of `kernel_frames` frames
    int kernel_frames = 1;
    std::vector<std::string> messages;  // the newest last
    std::string work;                   // work in progress; empty: none
    double share = -1;                  // of it that is done; below 0: unknown
    const MessageLog* log = nullptr;    // all messages; null: none are kept
    bool log_open = false;
    bool keys_open = false;
    std::string keys;       // of the program itself
    bool in_space = false;  // the keys and the mouse move a camera
    std::string hint;       // the value under the mouse; empty: none
    bool hidden = false;    // the panel: what is said stays
    /// The size and the mouse of a window whose panel is hidden and takes no input.
    float width = 0, height = 0, mouse_x = -1e9f, mouse_y = -1e9f;
    /// True: the right button was clicked on a picture, whose menu opens there; with the picture's
    /// name, its value there, and the endings of the files that it can be saved to.
    bool opens_menu = false;
    std::string menu_title, menu_value;
    std::vector<std::string> menu_endings;
    std::string question;   // the work that ending now would lose; empty: nothing is asked
    bool can_save = false;  // before it ends
    bool can_record = false;
    std::string recording;   // how far a video is; empty: none is recorded
    double video_rate = 60;  // frames a second that videos play; 0: as many as are drawn
};

/// The place of a part of the panel, in pixels.
struct PanelPart {
    std::string name;
    Rectangle rectangle;
};

/// The requests of the person to the window, made on the panel.
struct PanelActions {
    bool pause = false, step = false, reset = false, screenshot = false;
    bool kernels_open = false;  // kernel times are shown
    bool keys = false;          // opens or closes their sheet
    bool log = false;           // opens or closes the window of all messages
    bool defaults = false;
    bool record = false;  // begins or ends a video
    bool close_inspector = false;
    bool menu_opened = false;
    EndAnswer answer = EndAnswer::None;
    std::string save_picture;  // its ending
    std::string save_plot;     // its name
    std::optional<double> video_rate;
    std::string save_preset, load_preset;  // their paths
    std::vector<PanelPart> places;         // of parts that are no widgets, for tests
    std::string refused;                   // why a typed value was not taken as it is
};

/// The place that the person chose for the panel: it returns there when the window allows it again.
struct PanelPlace {
    PanelLayout layout;
    float width = 0, height = 0;  // of the window when it was last drawn; 0: never
    float room = 0;               // that it leaves below for messages, in pixels
    Rectangle drawn;              // when it was last drawn
};

/// The glyphs of the panel, with one byte of coverage per texel.
struct FontAtlas {
    const unsigned char* texels = nullptr;
    int width = 0, height = 0;
};

/// The panel, with a Dear ImGui context of its own.
class GuiPanel {
  public:
    /// `scale`: the display's scale, 1 for 96 dots per inch. `window`, if there is one, has the
    /// clipboard.
    GuiPanel(float scale, bool light, OsWindow* window);
    ~GuiPanel();
    GuiPanel(const GuiPanel&) = delete;
    GuiPanel& operator=(const GuiPanel&) = delete;

    FontAtlas atlas() const;
    /// These take the input of a frame: first begin_input, then sees() and take() for each event in
    /// order, then end_input, after which wants_mouse and wants_keys refer to it. Variables change
    /// here. An event that Dear ImGui could not distinguish from earlier ones in the same frame of
    /// its own gets another frame.
    void begin_input(Gui& gui, const PanelState& state, float width, float height,
                     PanelActions& actions);
    /// True if the press of a key or a button will be the panel's.
    bool sees(Gui& gui, const InputEvent& event, const PanelState& state, PanelActions& actions);
    void take(Gui& gui, InputEvent& event, const PanelState& state, PanelActions& actions);
    void end_input(Gui& gui, const RawInput& input, const PanelState& state, PanelActions& actions);
    /// Draws the panel after its last input; the data lives until the next call.
    const ImDrawData* draw(Gui& gui, const PanelState& state, PanelActions& actions);
    /// Draws the panel as in a picture of that size, without input.
    const ImDrawData* draw_in(Gui& gui, const PanelState& state, float width, float height);
    /// Sets a function that draws more windows of Dear ImGui beside the panel in every frame; null:
    /// none.
    void draw_beside(std::function<void(float scale, PanelActions&)> draw) {
        beside_ = std::move(draw);
    }
    /// The layout that the person has made; it is set before the panel is first drawn.
    const PanelLayout& layout() const { return place_.layout; }
    void set_layout(const PanelLayout& layout) { place_.layout = layout; }
    /// Closes the innermost menu, list or picker; false if none is open.
    bool close_popup();
    /// True if the mouse is over the panel, or drags a part of it.
    bool wants_mouse() const;
    /// True if a text field has the keyboard.
    bool wants_keys() const;
    /// True if the button has been down since it was pressed on the panel.
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
