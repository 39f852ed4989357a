// A window's loop: frames, pause and step, input in tensor coordinates, pictures.
#include "engine/window/view_window.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include "engine/runtime/vulkan_executor.h"
#include "engine/window/frame_painter.h"
#include "engine/window/widgets.h"

namespace firn {
namespace {

using Clock = std::chrono::steady_clock;

/// Programs of one frame that may wait for its submission.
constexpr size_t kBatch = 16;

double seconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

void check_options(const WindowOptions& options) {
    if (options.size.width > 0 && options.size.height > 0) return;
    throw UserError("window: a size of " + std::to_string(options.size.width) + "x" +
                    std::to_string(options.size.height) +
                    " has no pixels; give both sides at least 1");
}

std::unique_ptr<OsWindow> open_os_window(const WindowOptions& options) {
    check_options(options);
    if (options.headless) return nullptr;
    return std::make_unique<OsWindow>(options.title, options.size.width, options.size.height);
}

}  // namespace

struct ViewWindow::State {
    State(std::shared_ptr<VulkanExecutor> runner, const WindowOptions& wanted)
        : options(wanted),
          executor(std::move(runner)),
          os(open_os_window(wanted)),
          panel(os ? os->scale() : 1.0f),
          painter(executor->shared_device(), os.get(), panel.atlas()) {
        executor->device().set_batch_limit(kBatch);
        if (options.profile) executor->set_profiling(true);
    }
    ~State() {
        try {
            executor->device().set_batch_limit(1);
        } catch (const std::exception&) {
            // The next submission takes along what is enqueued, or tells its caller why not.
        }
    }

    VkExtent2D extent() const;
    const ImDrawData* update_panel(const RawInput& events, VkExtent2D at);
    void draw();
    void take_input();
    void take_mouse();
    void take_keys();
    void keep_rate();
    void take_times();
    void screenshot();
    void print_widgets();
    Picture picture();

    WindowOptions options;
    std::shared_ptr<VulkanExecutor> executor;
    std::unique_ptr<OsWindow> os;  // null where headless
    Gui gui;
    GuiPanel panel;
    FramePainter painter;

    Frame shown;
    RawInput input;
    Mouse mouse;
    PanelActions actions;
    std::vector<KernelTime> kernels;
    bool started = false, closed = false, hidden = false;
    bool paused = false, step = false, reset = false;           // as the person wants it
    bool asks_playing = false, playing = true, resets = false;  // as this frame is told
    int frames = 0, screenshots = 0;
    int times_frame = 0, kernel_frames = 1;  // when kernel times were taken, and over how many
    std::string printed;
    Clock::time_point last = Clock::now(), times_at = last;
    double frame_seconds = 0;  // smoothed
    double last_seconds = 1.0 / 60;
    Callback<void()> callback;
};

VkExtent2D ViewWindow::State::extent() const {
    VkExtent2D pixels = os ? os->extent() : VkExtent2D{0, 0};
    if (pixels.width > 0 && pixels.height > 0) return pixels;
    return {static_cast<uint32_t>(options.size.width), static_cast<uint32_t>(options.size.height)};
}

const ImDrawData* ViewWindow::State::update_panel(const RawInput& events, VkExtent2D at) {
    PanelState state;
    state.title = options.title;
    state.device = executor->device().info().name;
    // Pictures of a headless run are repeatable, so no time is in them.
    state.frame_milliseconds = os ? frame_seconds * 1e3 : 0;
    state.seconds = static_cast<float>(last_seconds);
    state.paused = paused;
    state.kernels = kernels;
    state.kernel_frames = kernel_frames;
    PanelActions wanted;
    const ImDrawData* data = panel.update(gui, events, state, static_cast<float>(at.width),
                                          static_cast<float>(at.height), wanted);
    if (wanted.pause) paused = !paused;
    if (wanted.step) paused = step = true;
    if (wanted.reset) reset = true;
    actions.screenshot = wanted.screenshot;
    if (!options.profile && wanted.kernels_open != actions.kernels_open) {
        executor->set_profiling(wanted.kernels_open);
    }
    actions.kernels_open = wanted.kernels_open;
    return data;
}

/// Draws what was shown last, in the window; headless, frames are drawn when somebody wants a
/// picture.
void ViewWindow::State::draw() {
    if (!os) {
        executor->device().flush();
        take_times();
        return;
    }
    shown.gui = hidden ? nullptr : update_panel(input, extent());
    painter.present(shown);
    if (std::exchange(actions.screenshot, false)) screenshot();
    if (options.print_widgets) print_widgets();
    take_times();
    keep_rate();
}

void ViewWindow::State::take_times() {
    // A person reads means over half a second; a profile wants every frame.
    bool due =
        options.profile || (actions.kernels_open && seconds_between(times_at, Clock::now()) > 0.5);
    if (!due) return;
    kernels = executor->take_kernel_times();
    kernel_frames = std::max(1, frames - times_frame);
    times_frame = frames;
    times_at = Clock::now();
}

void ViewWindow::State::keep_rate() {
    if (options.max_rate > 0) {
        std::this_thread::sleep_until(last +
                                      std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(1 / options.max_rate)));
    }
    Clock::time_point now = Clock::now();
    last_seconds = seconds_between(last, now);
    // The first frames compile kernels; they would spoil the mean for long.
    bool settled = frames > 2 && frame_seconds > 0;
    frame_seconds = settled ? 0.9 * frame_seconds + 0.1 * last_seconds : last_seconds;
    last = now;
}

void ViewWindow::State::take_input() {
    if (!os) return;
    os->poll();
    input = os->input();
    if (input.close) closed = true;
    take_keys();
    take_mouse();
}

void ViewWindow::State::take_keys() {
    if (!hidden && panel.wants_keys()) return;
    for (int key : input.pressed) {
        switch (key) {
            case ' ': paused = !paused; break;
            case 'N': paused = step = true; break;
            case 'R': reset = true; break;
            case 'S': screenshot(); break;
            case 'H': hidden = !hidden; break;
            case static_cast<int>(Key::Escape): closed = true; break;
            default: break;
        }
    }
}

void ViewWindow::State::take_mouse() {
    Mouse before = mouse;
    mouse = {};
    if (!shown.view.memory) return;
    Rectangle area = view_area(shown.view, extent());
    mouse.i = (input.y - area.y) / area.height * static_cast<float>(shown.view.shape[0]);
    mouse.j = (input.x - area.x) / area.width * static_cast<float>(shown.view.shape[1]);
    mouse.di = mouse.i - before.i;
    mouse.dj = mouse.j - before.j;
    bool gui_has_it = !hidden && panel.wants_mouse();
    mouse.inside = !gui_has_it && input.x >= area.x && input.y >= area.y &&
                   input.x < area.x + area.width && input.y < area.y + area.height;
    if (gui_has_it) return;
    MouseButton* buttons[3] = {&mouse.left, &mouse.right, &mouse.middle};
    for (int k = 0; k < 3; ++k) {
        *buttons[k] = input.buttons[k];
        if (input.buttons[k].pressed) buttons[k]->down = true;
    }
    mouse.wheel = input.wheel;
}

Picture ViewWindow::State::picture() {
    Frame frame = shown;
    frame.gui = nullptr;
    if (options.gui_in_pictures) {
        VkExtent2D at = extent();
        RawInput nothing;
        // A panel finds its size in the first frame that it is laid out in.
        for (int settle = 0; settle < 3; ++settle) frame.gui = update_panel(nothing, at);
    }
    return painter.picture(frame, extent());
}

void ViewWindow::State::screenshot() {
    std::string pattern =
        options.screenshot_path.empty() ? options.title + "-{}.png" : options.screenshot_path;
    std::string path = pattern;
    do {
        path = pattern;
        size_t at = path.find("{}");
        if (at != std::string::npos) path.replace(at, 2, std::to_string(++screenshots));
        if (at == std::string::npos) break;
    } while (std::filesystem::exists(path));
    write_png(path, picture());
    std::printf("wrote %s\n", path.c_str());
    std::fflush(stdout);
}

void ViewWindow::State::print_widgets() {
    std::string text;
    auto line = [&](const std::string& name, const Rectangle& at) {
        char buffer[160];
        std::snprintf(buffer, sizeof buffer, "widget %s %.0f %.0f %.0f %.0f\n", name.c_str(),
                      static_cast<double>(at.x), static_cast<double>(at.y),
                      static_cast<double>(at.width), static_cast<double>(at.height));
        text += buffer;
    };
    line("view", view_area(shown.view, extent()));
    for (const Widget& widget : gui.widgets().all) {
        if (widget.rectangle.width > 0) line(widget.name, widget.rectangle);
    }
    if (text == printed) return;
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    printed = text;
}

ViewWindow::ViewWindow(SharedPtr<VulkanExecutor> executor, const WindowOptions& options)
    : state_(within_memory("opening window", options.title,
                           [&] { return std::make_shared<State>(std::move(executor), options); })) {
}

ViewWindow::~ViewWindow() = default;

bool ViewWindow::open() {
    State& state = *state_;
    if (state.closed) return false;
    if (std::exchange(state.started, true)) {
        within_memory("drawing window", state.options.title, [&] { state.draw(); });
        ++state.frames;
        state.gui.parameters().check_all_known();
        if (state.callback) state.callback();
    }
    if (state.options.frames > 0 && state.frames >= state.options.frames) state.closed = true;
    if (!state.closed) state.take_input();
    while (state.paused && !state.step && !state.reset && !state.asks_playing && !state.closed) {
        state.draw();
        state.take_input();
    }
    state.playing = std::exchange(state.step, false) || !state.paused;
    state.resets = std::exchange(state.reset, false);
    return !state.closed;
}

void ViewWindow::close() { state_->closed = true; }

void ViewWindow::show(const BufferView& view, const ShowOptions& options) {
    BufferView copy = within_memory("showing in window", state_->options.title, [&] {
        check_showable(view);
        return view;
    });
    state_->shown.view = std::move(copy);  // all of it, or nothing
    state_->shown.options = options;
}

Gui& ViewWindow::gui() { return state_->gui; }
const Mouse& ViewWindow::mouse() const { return state_->mouse; }

bool ViewWindow::key_down(Key key) const {
    auto code = static_cast<size_t>(key);
    bool typing = !state_->hidden && state_->panel.wants_keys();
    return !typing && code < state_->input.keys.size() &&
           (state_->input.keys[code] || key_pressed(key));
}

bool ViewWindow::key_pressed(Key key) const {
    if (!state_->hidden && state_->panel.wants_keys()) return false;
    for (int pressed : state_->input.pressed) {
        if (pressed == static_cast<int>(key)) return true;
    }
    return false;
}

bool ViewWindow::playing() {
    state_->asks_playing = true;
    return state_->playing;
}

bool ViewWindow::reset() { return std::exchange(state_->resets, false); }

const WindowOptions& ViewWindow::options() const { return state_->options; }

WindowSize ViewWindow::size() const {
    VkExtent2D extent = state_->extent();
    return {static_cast<int>(extent.width), static_cast<int>(extent.height)};
}

int ViewWindow::frame() const { return state_->frames; }
Picture ViewWindow::picture() {
    return within_memory("drawing window", state_->options.title,
                         [&] { return state_->picture(); });
}
void ViewWindow::save(const std::string& path) { write_png(path, state_->picture()); }
void ViewWindow::on_frame(Callback<void()> callback) { state_->callback = std::move(callback); }
const std::vector<KernelTime>& ViewWindow::kernel_times() const { return state_->kernels; }
VulkanExecutor& ViewWindow::executor() const { return *state_->executor; }

}  // namespace firn
