// The state of a window from frame to frame.
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/long_work.h"
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
/// The number of frames that are drawn after any input, since the panel reacts over a few.
constexpr int kLivelyFrames = 4;

/// Returns `pattern` with a number above `number` in place of `{}` that no file has yet; `number`
/// becomes it.
std::string free_path(const std::string& pattern, int& number);

struct ViewWindow::State {
    using OpenExecutor = Callback<SharedPtr<VulkanExecutor>()>;
    /// `open` gives what draws, if `runner` does not.
    State(std::shared_ptr<Executor> runner, OpenExecutor open, const WindowOptions& wanted);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    /// Returns all windows on the screen; they belong to the main thread.
    static std::vector<State*>& on_screen();

    /// Returns the executor of the programs if it draws as well; else null.
    VulkanExecutor* watched() const;
    /// Returns what draws, which is opened here if it was not needed yet.
    VulkanExecutor& drawer();
    FramePainter& painter();
    /// Returns the frame in memory of the device that draws: the frame itself if the programs run
    /// there, else copies of its tensors, which are made once as long as they are shown.
    const Frame& on_device(const Frame& frame);
    SharedPtr<Memory> copy_of(const BufferView& view, uint64_t bytes);
    std::vector<std::byte> bytes_of(const BufferView& view) const;

    VkExtent2D extent() const;
    /// Returns the pixels of each unit of WindowOptions::size.
    float display_scale() const;
    /// Takes the scenes of a frame. Cameras stay where the person has put them until the program
    /// asks for others.
    void take_scenes(std::vector<DrawScene>&& scenes, const SceneGrid& grid);
    /// Returns the view that the mouse is over, or in which it drags.
    SceneView& active_view() { return shown.views[active]; }
    const SceneView& active_view() const { return shown.views[active]; }
    PanelState panel_state() const;
    /// Draws the panel and the messages, or only the messages if the panel is hidden.
    void draw_gui(bool kernels_open);
    /// Does what the person asked for on the panel.
    void obey(const PanelActions& wanted);
    /// Draws what was shown last in the window; headless, frames are drawn when a picture is asked
    /// for.
    void draw();
    /// Draws before the first frame, which compiles kernels and may take long.
    void draw_first();
    /// Presents a frame; a window whose display has gone away closes.
    void present();
    /// Draws the panel over what was shown last; this is no frame of the program.
    void draw_unasked();
    /// Takes input and draws, for all windows, while kernels of any program compile. A window that
    /// is closed meanwhile leaves the screen at once; its program ends when it next asks.
    static void serve_all(const std::string& text, double share);
    void serve(const std::string& text, double share);
    /// Does the same for other long work, if no frame of the program has been drawn for a while.
    /// False if a window was closed, and its program does not know yet.
    static bool serve_work(const WorkProgress& work);
    static bool is_any_closed();
    /// Takes the person's input during a wait for the device, which draws, and says how long it
    /// takes. If an edited kernel may be the cause, closing a window ends the wait.
    static void serve_wait(Device& device, double seconds);
    void name_wait(double seconds);
    /// Headless: long work and compilations end if close_when says so.
    void watch_for_end();
    /// See ViewWindow::asks_to_end().
    bool is_asked_to_end();
    /// Tells the program that it is to end; returns false.
    bool tell_end();
    /// Hands on what was read from the last frames; returns false.
    bool end();
    void keep_rate();
    void take_times();
    void toggle_inspector();
    Picture picture(VkExtent2D size);
    void screenshot();
    /// Shows a message as long as it takes to read, and adds it to the log.
    void say(const std::string& text);
    void toggle_log();
    void print_widgets();
    /// Reads and writes the panel's layout, if it is remembered.
    void recall_panel();
    void remember_panel() const;
    /// Save and load presets at the path that the person has chosen; errors are shown.
    void save_preset(const std::string& path);
    void load_preset(const std::string& path);
    void set_defaults();
    void undo();
    void redo();
    /// Returns the place of each view, as the person has it.
    std::vector<ViewPlace> places() const;
    void put(size_t view, const ViewPlace& place);
    /// The person's action in a picture is one step of the history until it ends, or until the
    /// wheel has stood still for a while. The step contains what differs from `places_before`, and
    /// what the program changes in its parameters.
    void note_gesture();
    void end_gesture();
    /// Adds an event since `begin` to the trace, if there is one.
    void trace(const char* track, const std::string& name, double begin);

    /// Takes the person's input, after so many seconds at most if nothing happens.
    void take_input(double wait_seconds = 0);
    /// Takes events in order. An event waits for the next frame if the program could not tell it
    /// from earlier ones of the same frame, or if it comes after a key that a frame must answer
    /// first.
    void take_events();
    /// Acts on a key; true if the program is not to see it.
    bool take_key(const InputEvent& event);
    /// True if Escape and the close button ask first because work would be lost.
    bool would_ask() const;
    void request_end();
    void take_close();
    /// Closes what Escape closes before the program; false if nothing is open.
    bool leave_innermost();
    /// Answers by a key; false if nothing was asked.
    bool take_answer(const InputEvent& event);
    void answer(EndAnswer wanted);
    /// Saves the work if the person wants that, between two frames of the program, and ends.
    void save_and_end();
    void take_undo();
    void toggle_keys();
    void take_mouse();
    void note_mouse();
    void choose_view();
    /// Turns, shifts and zooms the camera of a drawing in space.
    void take_camera();
    /// Zooms and shifts a flat drawing while Control is held, and shows the value under the mouse.
    void take_zoom();
    std::string value_at(float i, float j) const;
    /// Opens the menu of a picture at a right click, unless the program uses it.
    void take_menu();
    void fill_menu(PanelState& state) const;
    /// Saves the picture whose menu was opened, by the ending of its file; errors are shown.
    void save_picture(const std::string& ending);
    /// Saves the numbers of a plot of the panel as a .csv file; errors are shown.
    void save_plot(const std::string& name);
    /// True if time stands still: the window is paused, or not visible.
    bool stands_still() const;
    bool is_unseen() const;
    /// True if input came shortly before, or is on its way, which the next frames show.
    bool is_lively() const;
    /// True if another window has something to do.
    bool others_go_on() const;
    /// Draws and takes input, for all windows, while time stands still and the program is not to
    /// draw. Sleeps while there is no input.
    void hold();
    /// Serves the other windows; false if a window closed.
    bool serve_others();

    WindowOptions options;
    std::shared_ptr<Executor> runs;            // the programs
    std::shared_ptr<VulkanExecutor> executor;  // draws; null: it was not needed yet
    OpenExecutor open_executor;
    std::unique_ptr<OsWindow> os;  // null where headless
    Gui gui;
    GuiPanel panel;
    LateReads reads;
    std::unique_ptr<FramePainter> frame_painter;  // null: nothing was drawn yet
    struct Uploaded {
        SharedPtr<Memory> from;
        uint64_t offset = 0, bytes = 0;
        SharedPtr<Memory> copy;
    };
    std::vector<Uploaded> uploaded;  // the tensors of the last frame that was drawn
    Frame drawn;                     // that frame, with these copies
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
    bool serves = false;   // no frame of the program follows: no input waits for one
    std::deque<InputEvent> kept_keys;  // that were pressed meanwhile; the next frames report them
    Mouse mouse, frame_mouse;          // after the last input; and as the program's frame began
    std::optional<Mouse> kept_mouse;   // since that frame, for the next one
    bool has_mouse = false;            // it has been in the window
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
