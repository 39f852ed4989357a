// A window that shows tensors from their own memory, with a panel of widgets; headless, it draws
// the same frames into pictures.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/callback.h"
#include "compiler/program/kernel_time.h"
#include "engine/window/gui.h"
#include "engine/window/input.h"
#include "engine/window/picture.h"
#include "engine/window/scene.h"

namespace firn {

class Executor;
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
    /// Pixels of each unit of `size`; 0: by the display's scale, 1 headless.
    float scale = 0;
    /// Fills the screen; the size is then the screen's.
    bool fullscreen = false;
    /// Opens no window and needs no display; the same frames are drawn when a picture is asked for.
    bool headless = false;
    /// The number of frames after which open() returns false; 0: never.
    int frames = 0;
    /// The most frames per second in a window; 0: no limit.
    double max_rate = 60;
    /// Waits for the screen. Without it, frames are shown at once if the display can do that.
    bool vsync = true;
    /// The panel is dark on light; otherwise light on dark.
    bool light = false;
    /// The panel opens as the person has left it, unless frames are counted: its layout is in the
    /// person's folder for settings, by the title (engine/window/panel_layout.h).
    bool remembers_panel = true;
    /// Draws the panel in pictures too.
    bool gui_in_pictures = false;
    /// Prints the places of each widget and of the tensor, as `widget NAME X Y WIDTH HEIGHT`, when
    /// they change.
    bool print_widgets = false;
    /// Measures the kernels' times in every frame, and records a trace; otherwise times are only
    /// measured while the panel shows them.
    bool profile = false;
    /// Continues while it is minimised. If false, time stands still then, unless frames are counted
    /// or recorded, so that an unseen window costs nothing.
    bool runs_minimised = true;
    /// Frames per second of the videos that the person records; 0: as many as are drawn. The panel
    /// can change it.
    double video_rate = 60;
    /// Opens with the inspector, as F2 does.
    bool inspect = false;
    /// The path of screenshots made by S; `{}` in it becomes a number. Empty: `<title>-{}.png`.
    std::string screenshot_path;
    /// A sentence on the keys and the mouse of the program, shown on the sheet of ?.
    std::string keys;

    /// Returns the pixels of a picture as large as `size`.
    WindowSize pixels() const;
};

/// The state of a window's end. Asks: the person has not answered yet whether to end it, or wants
/// to save first.
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
    /// A window for programs that `runs` runs, in memory of the host; another device draws them.
    /// `open` gives that device when it is needed first: now, or headless with the first picture
    /// that has more than tensors in it.
    ViewWindow(SharedPtr<Executor> runs, Callback<SharedPtr<VulkanExecutor>()> open,
               const WindowOptions& options);
    ~ViewWindow();
    ViewWindow(const ViewWindow&) = delete;
    ViewWindow& operator=(const ViewWindow&) = delete;

    /// Ends a frame and begins the next: draws, takes input, keeps the rate. Returns false when the
    /// window is closed or all frames are done. While it is paused it waits for the person: it
    /// returns if the program asks playing() and something was done that it may want to show, such
    /// as a slider that moved; otherwise it goes on drawing the last frame itself.
    bool open();
    void close();
    /// True if the program is to end, by the person or by close_when(), and does not know yet:
    /// open() has not returned false since. Long work then ends (see CancelScope); what the program
    /// does after its last frame, such as saving, continues.
    bool asks_to_end() const;
    /// Says what ending the program now would lose, such as "120 steps"; empty: nothing. If it
    /// would lose something, Escape and the close button ask first, and offer `save` if it is
    /// given: it is called between two frames, and if it throws a UserError, the error is shown and
    /// the program continues. No question is asked headless, or if frames are counted. The close
    /// button ends the program at once while the question is shown.
    void unsaved(const std::string& what, Callback<void()> save = {});
    /// True if Escape would ask.
    bool would_ask() const;
    /// Does what Escape does if nothing else is open: asks, or closes the window.
    void request_end();
    WindowEnd ending() const;
    /// True if the window was closed because its display has gone away.
    bool lost_display() const;
    /// Returns the frames per second of a video that begins now (WindowOptions::video_rate).
    double video_rate() const;
    /// Sets what this frame shows; the last call counts. Throws UserError if it is no picture.
    void show(const BufferView& view, const ShowOptions& options = {});
    /// Shows a scene, with shapes. The person moves the camera of a drawing in space by the mouse,
    /// also while the window is paused: the camera stays there until a scene asks for another one
    /// than before.
    void show_scene(const DrawScene& scene);
    /// Shows several scenes in a grid, each with its own zoom or camera.
    void show_scenes(const std::vector<DrawScene>& scenes, const SceneGrid& grid = {});

    Gui& gui();
    const Mouse& mouse() const;
    /// Letters and digits by their upper-case character.
    bool key_down(Key key) const;
    bool key_pressed(Key key) const;  // went down since the last frame
    bool key_down(char key) const { return key_down(static_cast<Key>(key)); }
    bool key_pressed(char key) const { return key_pressed(static_cast<Key>(key)); }
    /// Returns true if this frame should advance: it is not paused, or one step was requested. A
    /// program that calls this continues to draw while it is paused, and leaves its state alone:
    ///     if (window.playing()) u = advance(u);
    bool playing();
    /// Returns the same, for code that draws nothing in a pause: calling this promises no drawing.
    bool advances() const;
    /// Returns true once after R or the button: the program should start again.
    bool reset();

    const WindowOptions& options() const;
    /// Returns the size of a frame in the units of WindowOptions::size: pixels at scale 1. A tensor
    /// with much work for every element, such as a simulation, has this size.
    WindowSize size() const;
    /// Returns the pixels of a frame. A tensor whose pixels are computed one by one has this size,
    /// and is made again when it changes; another size is stretched to the window, with bars if its
    /// proportion differs.
    WindowSize pixels() const;
    /// Returns the number of frames finished so far, without those of a pause.
    int frame() const;
    /// Returns the frame as it is shown now, or as it would be in another size.
    Picture picture();
    Picture picture(WindowSize size);
    /// Returns the picture that is shown, the first of several; without memory if there is none.
    const BufferView& shown() const;
    /// Returns the camera of a drawing in space, as the person has moved it.
    const DrawCamera& camera(size_t view = 0) const;
    /// Writes the frame as .png or .jpg, whole or not at all. Throws UserError if it cannot be
    /// written.
    void save(const std::string& path);
    /// Hands the elements of each view, as they are now, to `take` when the device has reached this
    /// point, without a wait. `take` is called by a later call of open() or picture(), in order,
    /// and before open() returns false; what it uses must live until then. Throws UserError if a
    /// view belongs to another device.
    void read_later(const std::vector<BufferView>& views,
                    Callback<void(const std::vector<std::vector<float>>&)> take);
    /// Waits for all requested reads, and hands them on.
    void finish_reads();
    /// True if the panel is visible: what is made for it alone can otherwise be left out.
    bool shows_panel() const;
    /// Shows a message in the window, beside the panel, as long as it takes to read, and keeps it
    /// in the log of all messages, which F3 shows.
    void say(const std::string& text);
    /// Sets a function that is called after every frame that counts, for recording.
    void on_frame(Callback<void()> callback);
    /// Gives the panel a button, and the key F9, that begins or ends a video by `toggle`; `state`
    /// returns how far the video is, empty if none is recorded.
    void set_recorder(Callback<void()> toggle, Callback<std::string()> state);
    /// A right click on a picture opens its menu, which saves it; a program that uses the right
    /// button itself says false, and Control with it opens the menu.
    void menu_by_right_click(bool opens);
    /// Sets how the menu writes a picture's numbers, .npy or .exr by the path's ending. It throws
    /// UserError.
    void set_tensor_writer(Callback<void(const BufferView&, const std::string& path)> write);
    /// Sets a function that is called in every frame and during waits; the window closes if it
    /// returns true.
    void close_when(Callback<bool()> is_over);
    /// Returns the times of the kernels that ran, if they are measured: in the last frame with
    /// `profile`, otherwise over half a second.
    const std::vector<KernelTime>& kernel_times() const;
    /// Returns, with `profile`, the events since the last call on the tracks frames, host, compile
    /// and device (engine/runtime/trace_event.h).
    std::vector<TraceEvent> take_trace();
    /// Returns what runs the programs that the window shows.
    Executor& runs() const;
    /// Returns what draws: runs(), or another device, which is opened if it was not needed yet.
    VulkanExecutor& executor() const;
    /// False if the device that draws was not needed yet.
    bool has_executor() const;
    /// Returns the bytes of a view, now.
    std::vector<std::byte> read(const BufferView& view) const;
    /// Sets what the inspector asks the compiler (engine/inspector/inspector_tools.h).
    void set_inspector_tools(const InspectorTools& tools);

  private:
    struct State;
    SharedPtr<State> state_;
};

}  // namespace firn
