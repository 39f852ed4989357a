// What a window holds from frame to frame.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/program/long_work.h"
#include "engine/inspector/inspector.h"
#include "engine/runtime/trace_event.h"
#include "engine/window/change_history.h"
#include "engine/window/frame_painter.h"
#include "engine/window/gui_panel.h"
#include "engine/window/late_reads.h"
#include "engine/window/view_window.h"

namespace firn {

using FrameClock = std::chrono::steady_clock;
inline double now_seconds() {
    return std::chrono::duration<double>(FrameClock::now().time_since_epoch()).count();
}
/// Frames that are drawn after something was done: the panel answers over a few.
constexpr int kLivelyFrames = 4;

/// `pattern` with a number for `{}` that no file has yet, above `number`, which becomes it.
std::string free_path(const std::string& pattern, int& number);

struct ViewWindow::State {
    State(std::shared_ptr<VulkanExecutor> runner, const WindowOptions& wanted);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    /// All that are on screen; they belong to the main thread.
    static std::vector<State*>& on_screen();

    VkExtent2D extent() const;
    /// Pixels of each unit of WindowOptions::size.
    float display_scale() const;
    /// Cameras stay where the person has put them, until the program asks for others.
    void take_scenes(std::vector<DrawScene>&& scenes, const SceneGrid& grid);
    /// The view that the mouse is over, or has been dragging in.
    SceneView& active_view() { return shown.views[active]; }
    const SceneView& active_view() const { return shown.views[active]; }
    PanelState panel_state() const;
    /// The panel and what is said, or what is said alone where it is hidden.
    void draw_gui(bool kernels_open);
    /// Does what the person asked for by the panel.
    void obey(const PanelActions& wanted);
    /// Draws what was shown last, in the window; headless, frames are drawn when somebody wants a
    /// picture.
    void draw();
    /// Before the first frame, which compiles kernels and may take long.
    void draw_first();
    /// A window whose display has gone away closes.
    void present();
    /// The panel over what was shown last: no frame of the program.
    void draw_unasked();
    /// While kernels compile, of whichever program: takes input and draws, for all windows. One
    /// that is closed meanwhile leaves the screen at once; its program ends when it next asks.
    static void serve_all(const std::string& text, double share);
    void serve(const std::string& text, double share);
    /// The same for other long work, where no frame of the program has been drawn for a while.
    /// False where a window was closed, and its program does not know yet.
    static bool serve_work(const WorkProgress& work);
    static bool is_any_closed();
    /// While somebody waits for the device, which is what draws: takes what the person does, and
    /// says how long. Where an edited kernel may be why, closing a window ends the wait.
    static void serve_wait(Device& device, double seconds);
    void name_wait(double seconds);
    /// Headless: long work and compiles end where close_when says so.
    void watch_for_end();
    /// See ViewWindow::asks_to_end().
    bool is_asked_to_end();
    /// The program is told that it is to end: false.
    bool tell_end();
    /// What was read of the last frames is handed on; false.
    bool end();
    void keep_rate();
    void take_times();
    void toggle_inspector();
    Picture picture(VkExtent2D size);
    void screenshot();
    /// Tells the person, in the window as long as it takes to read, and in the log.
    void say(const std::string& text);
    void toggle_log();
    void print_widgets();
    /// Reads and writes its layout, where it is to be remembered.
    void recall_panel();
    void remember_panel() const;
    /// Where the person has asked for it; what goes wrong is said.
    void save_preset(const std::string& path);
    void load_preset(const std::string& path);
    void set_defaults();
    void undo();
    void redo();
    /// Of each view, as the person has it.
    std::vector<ViewPlace> places() const;
    void put(size_t view, const ViewPlace& place);
    /// What the person does in the picture is one step of the history until it is let go, or the
    /// wheel has stood still for a while: what differs from `places_before`, and what the program
    /// makes of it in its parameters.
    void note_gesture();
    void end_gesture();
    /// Since `begin`, where there is a trace.
    void trace(const char* track, const std::string& name, double begin);

    /// What the person did, after so many seconds at the most where nothing happens.
    void take_input(double wait_seconds = 0);
    /// In order; what a frame of the program cannot tell from what came before in it, or what comes
    /// behind a key that a frame must answer first, waits for the next.
    void take_events();
    /// What it does to the window; true where the program is not to see it.
    bool take_key(const InputEvent& event);
    /// Escape and the close button ask first where work would be lost.
    bool would_ask() const;
    void request_end();
    void take_close();
    /// What Escape closes before the program; false where nothing is open.
    bool leave_innermost();
    /// By a key; false where nothing was asked.
    bool take_answer(const InputEvent& event);
    void answer(EndAnswer wanted);
    /// Where the person wants it saved, between two frames of the program.
    void save_and_end();
    void take_undo();
    void toggle_keys();
    void take_mouse();
    void choose_view();
    /// Turns, shifts and nears the camera of a drawing in space.
    void take_camera();
    /// With Control: nears and shifts what is flat, and says the value under the mouse.
    void take_zoom();
    std::string value_at(float i, float j) const;
    /// A right click on a picture opens its menu, unless the program wants it.
    void take_menu();
    void fill_menu(PanelState& state) const;
    /// The picture whose menu was opened, by the ending of its file; what goes wrong is said.
    void save_picture(const std::string& ending);
    /// The numbers of a plot of the panel, as a .csv file; what goes wrong is said.
    void save_plot(const std::string& name);
    /// Time stands still: the window is paused, or nobody sees it.
    bool stands_still() const;
    bool is_unseen() const;
    /// Something was done shortly before, or is on its way, which the next frames show.
    bool is_lively() const;
    /// Another window has something to do.
    bool others_go_on() const;
    /// While time stands still, and the program is not to draw: draws and takes input, for all
    /// windows. Sleeps while nobody does anything.
    void hold();
    /// False where a window closed.
    bool serve_others();

    WindowOptions options;
    std::shared_ptr<VulkanExecutor> executor;
    std::unique_ptr<OsWindow> os;  // null where headless
    Gui gui;
    GuiPanel panel;
    LateReads reads;
    FramePainter painter;
    InspectorTools tools;
    std::unique_ptr<Inspector> inspector;  // null: it is closed

    Frame shown;
    size_t active = 0;  // one of its views
    std::vector<ViewPlace> places_before;
    struct Gesture {
        ParameterValues before;
        std::optional<ViewMove> move;
        FrameClock::time_point last;
        bool by_wheel = false;
    };
    std::optional<Gesture> gesture;  // that is under way
    struct Menu {
        bool opens = false, by_click = true;  // without Control too
        size_t view = 0;
        std::string value;
        float press_x = -1e9f, press_y = 0;  // where the right button went down on a picture
    } menu;
    struct Ending {
        std::string unsaved;    // empty: nothing would be lost
        Callback<void()> save;  // empty: the program cannot save it
        bool asks = false;      // the question stands
        bool saves = false;     // it is saved at the next frame, which ends it
        bool hidden = false;    // the panel was, before the question
    } ending;
    Callback<void(const BufferView&, const std::string&)> write_tensor;
    RawInput input, held;  // of the frame that is under way; and of the last that was taken
    bool serves = false;   // what is done is seen by no frame of the program: nothing waits for one
    Mouse mouse;
    PanelActions actions;
    std::vector<KernelTime> kernels;
    std::vector<TraceEvent> events;
    double frame_begin = trace_now();
    bool started = false, closed = false, hidden = false, keys_open = false, log_open = false;
    bool knows_closed = false, knows_over = false;     // the program: closed, and by close_when()
    bool paused = false, step = false, reset = false;  // as the person wants it
    bool watches = false;                              // what takes long, without being on screen
    bool asks_playing = false, playing = true, resets = false;  // as this frame is told
    int lively = 0;                                             // frames
    int frames = 0, screenshots = 0, saved_pictures = 0, saved_plots = 0;
    int draws = 0;                          // frames, and those of a pause
    int times_draw = 0, kernel_frames = 1;  // when kernel times were taken, and over how many
    std::string layout_path;                // empty: it is not remembered
    PanelLayout layout_before;
    std::string printed, hint;
    MessageLog log;
    size_t messages_drawn = 0;  // of the log, when it was drawn last
    std::string work;           // that the program waits for, or does between its frames
    double work_share = -1;     // see WorkProgress
    int64_t waited = 0;         // seconds that the title tells; 0: it is the window's own
    float zoom_from_x = 0, zoom_from_y = 0;  // where the mouse was in the frame before, in pixels
    FrameClock::time_point last = FrameClock::now(), times_at = last, work_ends = last,
                           drawn_at = last;
    double frame_seconds = 0;  // smoothed
    double last_seconds = 1.0 / 60;
    Callback<void()> callback;
    Callback<bool()> is_over;
    Callback<void()> toggle_recording;
    Callback<std::string()> recording;
};

}  // namespace firn
