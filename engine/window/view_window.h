// A window that shows tensors from their own memory, with a panel of widgets; headless, the same
// into pictures.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/program/callback.h"
#include "compiler/program/kernel_time.h"
#include "engine/window/gui.h"
#include "engine/window/input.h"
#include "engine/window/picture.h"
#include "engine/window/scene.h"

namespace firn {

class VulkanExecutor;
struct InspectorTools;
struct TraceEvent;

struct WindowSize {
    int width = 1280, height = 720;
    bool operator==(const WindowSize&) const = default;
};

struct WindowOptions {
    std::string title = "firn";
    WindowSize size;
    /// Pixels of each of its units; 0: as many as the display's scale says, headless one.
    float scale = 0;
    /// Fills the screen; the size is then the screen's.
    bool fullscreen = false;
    /// Opens no window and needs no display; the same frames are drawn when a picture is asked for.
    bool headless = false;
    /// open() turns false after so many frames; 0: never.
    int frames = 0;
    /// Frames a second at most, in a window; 0: no limit.
    double max_rate = 60;
    /// Waits for the screen; without, frames are shown at once, where the display can do that.
    bool vsync = true;
    /// The panel is dark on light; else light on dark.
    bool light = false;
    /// The panel comes back as the person has left it, unless frames are counted: its layout is in
    /// the person's folder for settings, by the title (engine/window/panel_layout.h).
    bool remembers_panel = true;
    /// Draws the panel in pictures too.
    bool gui_in_pictures = false;
    /// Prints where each widget and the tensor are, as `widget NAME X Y WIDTH HEIGHT`, when that
    /// changes.
    bool print_widgets = false;
    /// Takes the kernels' times in every frame, and a trace of all that is done; else only while
    /// the panel shows them.
    bool profile = false;
    /// Goes on while it is minimised. False: its time stands still then, unless frames are counted
    /// or recorded, so that it costs nothing while nobody sees it.
    bool runs_minimised = true;
    /// Frames per second of the videos that the person records; 0: as many as are drawn. The
    /// panel changes it.
    double video_rate = 60;
    /// Opens with the inspector, as F2 does.
    bool inspect = false;
    /// Where S writes; `{}` in it becomes a number. Empty: `<title>-{}.png`.
    std::string screenshot_path;
    /// A sentence on the keys and the mouse of the program, for the sheet that ? shows.
    std::string keys;

    /// Of a picture as large as `size`.
    WindowSize pixels() const;
};

/// Asks: whether to end it, and the person has not answered yet, or wants to save first.
enum class WindowEnd : uint8_t { Open, Asks, Closed };

/// Keys: space pauses, N makes one frame, R resets, S writes a screenshot, H hides the panel, F2
/// opens the inspector, F3 shows all messages, F9 records, F11 fills the screen, ? lists them,
/// Escape closes what is open, at last the window. Used from the main thread; several may be open.
/// The frame that a loop's body shows is drawn by the next call of open(), in one submission with
/// what computed it.
class ViewWindow {
  public:
    /// Throws UserError (no display, a size that is not positive), DeviceError (the device cannot
    /// present).
    ViewWindow(SharedPtr<VulkanExecutor> executor, const WindowOptions& options);
    ~ViewWindow();
    ViewWindow(const ViewWindow&) = delete;
    ViewWindow& operator=(const ViewWindow&) = delete;

    /// Ends a frame and begins the next: draws, takes input, keeps the rate. False when the window
    /// is closed or all frames are done. While it is paused it waits for the person: it returns
    /// where the program asks playing() and something was done that it may want to show, such as a
    /// slider that moved; else it goes on drawing the last frame itself.
    bool open();
    void close();
    /// The program is to end, by the person or by close_when(), and does not know yet: open() has
    /// not returned false since. Work that takes long ends then (see CancelScope); what the program
    /// does behind its last frame, such as saving, goes on.
    bool asks_to_end() const;
    /// Tells what ending the program now would lose, such as "120 steps"; empty: nothing. While
    /// there is something, Escape and the close button ask first, and offer `save` where it is
    /// given: it is called between two frames, and where it throws a UserError that is said and the
    /// program goes on. Asked is nobody headless, and where frames are counted. The close button
    /// ends it at once where the question stands.
    void unsaved(const std::string& what, Callback<void()> save = {});
    /// Escape would ask.
    bool would_ask() const;
    /// As Escape does where nothing else is open: asks, or closes it.
    void request_end();
    WindowEnd ending() const;
    /// It was closed because its display has gone away.
    bool lost_display() const;
    /// Frames per second of a video that begins now (WindowOptions::video_rate).
    double video_rate() const;
    /// What this frame shows; the last call counts. Throws UserError where it is no picture.
    void show(const BufferView& view, const ShowOptions& options = {});
    /// The same with shapes. The person moves the camera of a drawing in space by the mouse, also
    /// while it is paused: it stays so until a scene asks for another camera than the one before.
    void show_scene(const DrawScene& scene);
    /// Several in a grid, each with its own zoom or camera.
    void show_scenes(const std::vector<DrawScene>& scenes, const SceneGrid& grid = {});

    Gui& gui();
    const Mouse& mouse() const;
    /// Letters and digits by their upper-case character.
    bool key_down(Key key) const;
    bool key_pressed(Key key) const;  // went down since the last frame
    bool key_down(char key) const { return key_down(static_cast<Key>(key)); }
    bool key_pressed(char key) const { return key_pressed(static_cast<Key>(key)); }
    /// Whether this frame should advance: not paused, or one step was asked for. A program that
    /// asks draws on while it is paused, and leaves its state alone:
    ///     if (window.playing()) u = advance(u);
    bool playing();
    /// The same, for what draws nothing in a pause: asking this is no such promise.
    bool advances() const;
    /// True once after R or the button: the program should start again.
    bool reset();

    const WindowOptions& options() const;
    /// Size of a frame, in the units of WindowOptions::size: pixels where the display's scale is 1.
    /// What computes much for every element, such as a simulation, is made so large.
    WindowSize size() const;
    /// Pixels of a frame. What draws each pixel by itself is made so large, and again where that
    /// changes; another size is stretched to the window, with bars where its proportion differs.
    WindowSize pixels() const;
    /// Frames finished so far; those of a pause do not count.
    int frame() const;
    /// The frame as it is shown now, also as large as another window's.
    Picture picture();
    Picture picture(WindowSize size);
    /// The picture that is shown, the first of several; no memory where there is none.
    const BufferView& shown() const;
    /// Of a drawing in space, as the person has it now.
    const DrawCamera& camera(size_t view = 0) const;
    /// Writes it, .png or .jpg, whole or not at all. Throws UserError where it cannot be written.
    void save(const std::string& path);
    /// Hands the elements of each view to `take`, as they are now, when the device has got there:
    /// nobody waits. By a later call of open() or picture(), in order, and all of them before
    /// open() turns false; what `take` uses must live until then. UserError where a view is another
    /// device's.
    void read_later(const std::vector<BufferView>& views,
                    Callback<void(const std::vector<std::vector<float>>&)> take);
    /// Waits for all that was asked for so far, and hands it on.
    void finish_reads();
    /// Whether somebody sees the panel: what is made for it alone can be left out.
    bool shows_panel() const;
    /// Tells the person something, in the window as long as it takes to read, beside the panel;
    /// and in the log of all messages, which F3 shows.
    void say(const std::string& text);
    /// Called after every frame that counts, for recording.
    void on_frame(Callback<void()> callback);
    /// Gives the panel a button, and F9, that begins or ends a video: `toggle` does, and `state`
    /// says how far it is; empty: nothing is recorded.
    void set_recorder(Callback<void()> toggle, Callback<std::string()> state);
    /// A right click on a picture opens its menu, which saves it; a program that uses the right
    /// button itself says false, and Control with it opens the menu.
    void menu_by_right_click(bool opens);
    /// How the menu writes a picture's numbers, .npy or .exr by the path's ending; throws
    /// UserError.
    void set_tensor_writer(Callback<void(const BufferView&, const std::string& path)> write);
    /// Asked in every frame and while it waits; the window closes where it says true.
    void close_when(Callback<bool()> is_over);
    /// Of the kernels that ran, where they are taken: in the last frame with `profile`, else over
    /// half a second.
    const std::vector<KernelTime>& kernel_times() const;
    /// With `profile`: what was done since the last call on the tracks frames, host, compile and
    /// device (engine/runtime/trace_event.h).
    std::vector<TraceEvent> take_trace();
    VulkanExecutor& executor() const;
    /// What the inspector asks the compiler (engine/inspector/inspector_tools.h).
    void set_inspector_tools(const InspectorTools& tools);

  private:
    struct State;
    SharedPtr<State> state_;
};

}  // namespace firn
