// A window's loop: frames, pause and step, pictures.
#include "engine/window/view_window.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include "compiler/base/long_work.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/camera.h"
#include "engine/window/view_binding.h"
#include "engine/window/widgets.h"
#include "engine/window/window_state.h"

namespace firn {
namespace {

/// The most programs of one frame that wait for its submission.
constexpr size_t kBatch = 16;
/// The limits of a video's frame rate if it is to play at the rate at which it was drawn.
constexpr double kLeastVideoRate = 0.1, kMostVideoRate = 60;

double seconds_between(FrameClock::time_point from, FrameClock::time_point to) {
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
    return std::make_unique<OsWindow>(options.title, options.size.width, options.size.height,
                                      options.scale, options.fullscreen);
}

float panel_scale(const WindowOptions& options, const OsWindow* os) {
    if (options.scale > 0) return std::clamp(options.scale, 1.0f, 4.0f);
    return os ? os->scale() : 1.0f;
}

}  // namespace

WindowSize WindowOptions::pixels() const {
    const float factor = scale > 0 ? scale : 1;
    const auto of = [&](int count) {
        return std::max(1, static_cast<int>(std::lround(static_cast<float>(count) * factor)));
    };
    return {of(size.width), of(size.height)};
}

ViewWindow::State::State(std::shared_ptr<Executor> runner, OpenExecutor open,
                         const WindowOptions& wanted)
    : options(wanted),
      runs(std::move(runner)),
      executor(std::dynamic_pointer_cast<VulkanExecutor>(runs)),
      open_executor(std::move(open)),
      os(open_os_window(wanted)),
      panel(panel_scale(wanted, os.get()), wanted.light, os.get()),
      reads(runs) {
    if (os || executor) painter();
    if (options.profile) {
        runs->set_profiling(true);
        if (watched()) watched()->set_tracing(true);
    }
    if (options.inspect) toggle_inspector();
    recall_panel();
    if (!os) {
        watch_for_end();
        return;
    }
    on_screen().push_back(this);
    // The thread that opened the window serves GLFW.
    runs->on_compile([mine = std::this_thread::get_id()](const CompileProgress& progress) {
        if (std::this_thread::get_id() != mine) return;
        const double kernels = static_cast<double>(progress.kernels);
        serve_all(text(progress),
                  progress.kernels > 0 ? static_cast<double>(progress.done) / kernels : -1);
        if (CancelScope::is_open() && is_any_closed())
            CancelScope::end(text(progress), "the window was closed");
    });
    watch_work([](const WorkProgress& work) { return serve_work(work); });
    executor->device().watch_waits(
        [device = &executor->device(), mine = std::this_thread::get_id()](double seconds) {
            if (std::this_thread::get_id() == mine) serve_wait(*device, seconds);
        });
}

ViewWindow::State::~State() {
    remember_panel();
    std::erase(on_screen(), this);
    if (watches || (os && on_screen().empty())) {
        runs->on_compile({});
        if (executor) executor->device().watch_waits({});
        watch_work({});
    }
    try {
        if (executor) executor->device().set_batch_limit(1);
    } catch (const std::exception&) {
        // The next submission includes what is enqueued, or reports the error to its caller.
    }
}

VulkanExecutor* ViewWindow::State::watched() const {
    return executor.get() == runs.get() ? executor.get() : nullptr;
}

VulkanExecutor& ViewWindow::State::drawer() {
    if (!executor) executor = open_executor();
    return *executor;
}

FramePainter& ViewWindow::State::painter() {
    if (frame_painter) return *frame_painter;
    drawer().device().set_batch_limit(kBatch);
    frame_painter = std::make_unique<FramePainter>(executor->shared_device(), os.get(),
                                                   options.vsync, panel.atlas());
    return *frame_painter;
}

const Frame& ViewWindow::State::on_device(const Frame& frame) {
    if (watched()) return frame;
    std::vector<Uploaded> now;
    const auto move = [&](BufferView& view) {
        if (!view.memory) return;
        const auto bytes =
            static_cast<uint64_t>(elements_of(view)) * static_cast<uint64_t>(view.dtype.bytes());
        const auto is_it = [&](const Uploaded& each) {
            return each.from.get() == view.memory.get() && each.offset == view.offset &&
                   each.bytes == bytes;
        };
        auto found = std::find_if(now.begin(), now.end(), is_it);
        if (found == now.end()) {
            const auto before = std::find_if(uploaded.begin(), uploaded.end(), is_it);
            if (before != uploaded.end())
                now.push_back(*before);
            else
                now.push_back({view.memory, view.offset, bytes, copy_of(view, bytes)});
            found = now.end() - 1;
        }
        view.memory = found->copy;
        view.offset = 0;
    };
    drawn = frame;
    for (SceneView& each : drawn.views) each.scene.for_tensors(move);
    // Only now: new copies do not get the memory of those from which the device may still draw.
    uploaded = std::move(now);
    return drawn;
}

SharedPtr<Memory> ViewWindow::State::copy_of(const BufferView& view, uint64_t bytes) {
    VulkanExecutor& device = drawer();
    SharedPtr<Memory> copy = device.allocate(bytes, "shown tensor");
    if (const std::byte* from = runs->mapped(*view.memory))
        device.write(*copy, 0, {from + view.offset, static_cast<size_t>(bytes)});
    else
        device.write(*copy, 0, bytes_of(view));
    return copy;
}

std::vector<std::byte> ViewWindow::State::bytes_of(const BufferView& view) const {
    std::vector<std::byte> bytes(static_cast<size_t>(elements_of(view)) *
                                 static_cast<size_t>(view.dtype.bytes()));
    runs->read(*view.memory, view.offset, bytes);
    return bytes;
}

VkExtent2D ViewWindow::State::extent() const {
    VkExtent2D pixels = os ? os->extent() : VkExtent2D{0, 0};
    if (pixels.width > 0 && pixels.height > 0) return pixels;
    const WindowSize size = options.pixels();
    return {static_cast<uint32_t>(size.width), static_cast<uint32_t>(size.height)};
}

float ViewWindow::State::display_scale() const {
    if (options.scale > 0) return options.scale;
    return os ? os->exact_scale() : 1.0f;
}

void ViewWindow::State::take_scenes(std::vector<DrawScene>&& scenes, const SceneGrid& grid) {
    shown.views.resize(scenes.size());
    shown.grid = grid;
    active = std::min(active, scenes.size() - 1);
    for (size_t k = 0; k < scenes.size(); ++k) {
        SceneView& view = shown.views[k];
        const DrawCamera asked = scenes[k].camera;
        if (asked != view.asked)
            view.asked = asked;
        else
            scenes[k].camera = view.scene.camera;
        view.scene = std::move(scenes[k]);
    }
}

PanelState ViewWindow::State::panel_state() const {
    PanelState state;
    state.title = options.title;
    state.device = watched() ? watched()->device().info().name : runs->profile().name;
    // Pictures of a headless run are repeatable, so they contain no times.
    state.frame_milliseconds = os ? frame_seconds * 1e3 : 0;
    state.seconds = static_cast<float>(last_seconds);
    state.paused = paused;
    state.kernels = kernels;
    state.kernel_frames = kernel_frames;
    state.messages = shown_messages(log, now_seconds());
    state.log = &log;
    state.log_open = log_open;
    if (os && draws == 0) state.work = "compiling kernels ...";
    if (FrameClock::now() < work_ends) {
        state.work = work;
        state.share = work_share;
    }
    state.keys_open = keys_open;
    state.keys = options.keys;
    state.hint = hint;
    if (ending.asks) state.question = ending.unsaved;
    state.can_save = static_cast<bool>(ending.save);
    state.can_record = os && recording;
    state.video_rate = options.video_rate;
    if (recording) state.recording = recording();
    state.in_space = std::any_of(shown.views.begin(), shown.views.end(),
                                 [](const SceneView& view) { return view.scene.is_in_space(); });
    fill_menu(state);
    return state;
}

void ViewWindow::State::obey(const PanelActions& wanted) {
    if (wanted.pause) paused = !paused;
    if (wanted.step) paused = step = true;
    if (wanted.reset) reset = true;
    if (wanted.screenshot) actions.screenshot = true;
    if (wanted.keys) keys_open = false;
    if (wanted.log) log_open = !log_open;
    if (wanted.defaults) set_defaults();
    if (wanted.record && toggle_recording) toggle_recording();
    if (!wanted.save_preset.empty()) save_preset(wanted.save_preset);
    if (!wanted.load_preset.empty()) load_preset(wanted.load_preset);
    if (!wanted.places.empty()) actions.places = wanted.places;
    if (!wanted.refused.empty()) say(wanted.refused);
    if (wanted.menu_opened) menu.opens = false;
    if (!wanted.save_picture.empty()) save_picture(wanted.save_picture);
    if (!wanted.save_plot.empty()) save_plot(wanted.save_plot);
    if (wanted.video_rate) options.video_rate = *wanted.video_rate;
    if (wanted.close_inspector && inspector) toggle_inspector();
    answer(wanted.answer);
    actions.kernels_open = wanted.kernels_open;
    if (!options.profile) runs->set_profiling(actions.kernels_open || inspector);
}

void ViewWindow::State::toggle_inspector() {
    if (!watched())
        return say("the inspector watches programs on Vulkan devices, and these run on '" +
                   runs->profile().name + "'; choose a Vulkan device by --device");
    if (inspector) {
        panel.draw_beside(nullptr);
        inspector.reset();
    } else {
        inspector = std::make_unique<Inspector>(executor, tools, options.title);
        panel.draw_beside([this](float scale, PanelActions& wanted) {
            if (!inspector->draw(scale, wanted.places)) wanted.close_inspector = true;
            for (const std::string& text : inspector->take_said())
                keep_message(log, "inspector: " + text, time_of_day());
        });
    }
    if (!options.profile) runs->set_profiling(actions.kernels_open || inspector);
}

void ViewWindow::State::say(const std::string& text) {
    add_message(log, text, now_seconds(), time_of_day());
}

/// Shows the panel too, beside which the log is drawn.
void ViewWindow::State::toggle_log() {
    log_open = hidden || !log_open;
    hidden = hidden && !log_open;
}

void ViewWindow::State::draw_gui(bool kernels_open) {
    shown.gui = nullptr;
    PanelState state = panel_state();
    state.hidden = hidden;
    messages_drawn = state.messages.size();
    if (hidden && state.messages.empty() && state.work.empty() && state.hint.empty()) return;
    const VkExtent2D at = extent();
    state.width = static_cast<float>(at.width), state.height = static_cast<float>(at.height);
    state.mouse_x = input.x, state.mouse_y = input.y;
    PanelActions wanted{.kernels_open = kernels_open};
    shown.gui = panel.draw(gui, state, wanted);
    obey(wanted);
}

void ViewWindow::State::trace(const char* track, const std::string& name, double begin) {
    if (options.profile) events.push_back({track, name, begin, trace_now()});
}

void ViewWindow::State::draw() {
    ++draws;
    drawn_at = FrameClock::now();
    double begin = trace_now();
    if (!os) {
        if (executor) executor->device().flush();
        reads.hand_on();
        trace("host", "submit", begin);
        take_times();
        return;
    }
    reads.hand_on();
    draw_gui(hidden && actions.kernels_open);
    trace("host", "panel", begin);
    begin = trace_now();
    shown.scale = display_scale();
    present();
    trace("host", "present", begin);
    if (std::exchange(actions.screenshot, false)) screenshot();
    if (options.print_widgets) print_widgets();
    take_times();
    begin = trace_now();
    keep_rate();
    trace("host", "wait for the rate", begin);
}

void ViewWindow::State::present() {
    try {
        if (os->has_display()) painter().present(on_device(shown));
    } catch (const DeviceError&) {
        os->poll();  // receives the request
        if (os->has_display()) throw;
    }
    closed |= !os->has_display();
}

void ViewWindow::State::draw_first() {
    // A panel knows its size only after it was laid out once.
    for (int settle = 0; settle < 3 && !closed; ++settle) {
        serves = true;
        take_input();
        serves = false;
        draw_unasked();
    }
    last = FrameClock::now();
}

void ViewWindow::State::draw_unasked() {
    drawn_at = FrameClock::now();
    draw_gui(actions.kernels_open);
    shown.scale = display_scale();
    present();
}

void ViewWindow::State::take_times() {
    // A person reads means over half a second, for which no frame waits; a profile needs the times
    // of every frame.
    bool due = options.profile || ((actions.kernels_open || inspector) &&
                                   seconds_between(times_at, FrameClock::now()) > 0.5);
    if (!due) return;
    const double begin = trace_now();
    kernels = options.profile || !watched() ? runs->take_kernel_times()
                                            : watched()->take_ready_kernel_times();
    kernel_frames = std::max(1, draws - times_draw);
    times_draw = draws;
    times_at = FrameClock::now();
    if (inspector) inspector->add_times(kernels, kernel_frames);
    trace("host", "wait for the device", begin);
}

void ViewWindow::State::keep_rate() {
    if (options.max_rate > 0) {
        std::this_thread::sleep_until(last +
                                      std::chrono::duration_cast<FrameClock::duration>(
                                          std::chrono::duration<double>(1 / options.max_rate)));
    }
    FrameClock::time_point now = FrameClock::now();
    last_seconds = seconds_between(last, now);
    // The first frames compile kernels; they would spoil the mean for long.
    bool settled = frames > 2 && frame_seconds > 0;
    if (!stands_still())
        frame_seconds = settled ? 0.9 * frame_seconds + 0.1 * last_seconds : last_seconds;
    last = now;
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
    for (size_t k = 0; k < shown.views.size(); ++k)
        line(k == 0 ? "view" : "view" + std::to_string(k), placement_of(shown, k, extent()).area);
    for (const Widget& widget : gui.widgets().all) {
        if (widget.rectangle.width > 0) line(widget.name, widget.rectangle);
    }
    for (const PanelPart& part : actions.places) line(part.name, part.rectangle);
    if (text == printed) return;
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    printed = text;
}

ViewWindow::ViewWindow(SharedPtr<VulkanExecutor> executor, const WindowOptions& options)
    : ViewWindow(std::shared_ptr<Executor>(std::shared_ptr<VulkanExecutor>(std::move(executor))),
                 {}, options) {}

ViewWindow::ViewWindow(SharedPtr<Executor> runs, Callback<SharedPtr<VulkanExecutor>()> open,
                       const WindowOptions& options)
    : state_(within_memory("opening window", options.title, [&] {
          return std::make_shared<State>(std::move(runs), std::move(open), options);
      })) {}

ViewWindow::~ViewWindow() = default;

bool ViewWindow::open() {
    State& state = *state_;
    if (state.closed) return state.tell_end();
    if (std::exchange(state.started, true)) {
        state.trace("host", "program", state.frame_begin);
        within_memory("drawing window", state.options.title, [&] { state.draw(); });
        state.gui.parameters().check_all_known();
        if (state.playing) {
            ++state.frames;
            state.trace("frames", "frame " + std::to_string(state.frames), state.frame_begin);
            if (state.callback) state.callback();
        }
    } else if (state.os) {
        within_memory("drawing window", state.options.title, [&] { state.draw_first(); });
    }
    if (state.options.frames > 0 && state.frames >= state.options.frames) state.closed = true;
    if (!state.closed) state.take_input();
    within_memory("drawing window", state.options.title, [&] { state.hold(); });
    state.frame_begin = trace_now();
    state.playing = std::exchange(state.step, false) || !state.paused;
    state.resets = std::exchange(state.reset, false);
    return !state.closed || state.tell_end();
}

void ViewWindow::close() { state_->closed = true; }
bool ViewWindow::asks_to_end() const { return state_->is_asked_to_end(); }

void ViewWindow::show(const BufferView& view, const ShowOptions& options) {
    within_memory("showing in window", state_->options.title, [&] { check_showable(view); });
    DrawScene scene;
    scene.picture = view;
    scene.options = options;
    show_scene(scene);
}

void ViewWindow::show_scene(const DrawScene& scene) { show_scenes({scene}); }

void ViewWindow::show_scenes(const std::vector<DrawScene>& scenes, const SceneGrid& grid) {
    std::vector<DrawScene> copies = within_memory("showing in window", state_->options.title, [&] {
        for (const DrawScene& scene : scenes) {
            check_scene(scene);
            if (scene.is_in_space()) projection_of(scene.camera, 1);
        }
        return scenes.empty() ? std::vector<DrawScene>(1) : scenes;
    });
    state_->take_scenes(std::move(copies), grid);  // all of them, or nothing
}

Gui& ViewWindow::gui() { return state_->gui; }
const Mouse& ViewWindow::mouse() const { return state_->frame_mouse; }

bool ViewWindow::key_down(Key key) const {
    auto code = static_cast<size_t>(key);
    bool typing = !state_->hidden && state_->panel.wants_keys();
    return !typing && code < state_->input.keys.size() &&
           (state_->input.keys[code] || key_pressed(key));
}

bool ViewWindow::key_pressed(Key key) const {
    const auto& events = state_->input.events;
    return std::any_of(events.begin(), events.end(), [&](const InputEvent& event) {
        return event.kind == InputEvent::Kind::Key && event.is_press() && !event.on_panel &&
               event.code == static_cast<int>(key);
    });
}

bool ViewWindow::playing() {
    state_->asks_playing = true;
    return state_->playing;
}

double ViewWindow::video_rate() const {
    const double chosen = state_->options.video_rate, seconds = state_->frame_seconds;
    if (chosen > 0) return chosen;
    return seconds > 0 ? std::clamp(1 / seconds, kLeastVideoRate, kMostVideoRate) : kMostVideoRate;
}

bool ViewWindow::lost_display() const { return state_->os && !state_->os->has_display(); }

bool ViewWindow::advances() const { return state_->playing; }

bool ViewWindow::shows_panel() const {
    const State& state = *state_;
    if (!state.os) return state.options.gui_in_pictures;
    return !state.hidden && !state.panel.layout().collapsed;
}

bool ViewWindow::reset() { return std::exchange(state_->resets, false); }

const WindowOptions& ViewWindow::options() const { return state_->options; }

WindowSize ViewWindow::size() const {
    const WindowSize all = pixels();
    const float scale = state_->display_scale();
    const auto units = [&](int count) {
        return std::max(1, static_cast<int>(std::lround(static_cast<float>(count) / scale)));
    };
    return {units(all.width), units(all.height)};
}

WindowSize ViewWindow::pixels() const {
    VkExtent2D extent = state_->extent();
    return {static_cast<int>(extent.width), static_cast<int>(extent.height)};
}

int ViewWindow::frame() const { return state_->frames; }

const BufferView& ViewWindow::shown() const { return state_->shown.views.front().scene.picture; }

const DrawCamera& ViewWindow::camera(size_t view) const {
    return state_->shown.views.at(view).scene.camera;
}

void ViewWindow::say(const std::string& text) { state_->say(text); }
void ViewWindow::close_when(Callback<bool()> is_over) { state_->is_over = std::move(is_over); }
void ViewWindow::menu_by_right_click(bool opens) { state_->menu.by_click = opens; }
void ViewWindow::set_tensor_writer(Callback<void(const BufferView&, const std::string&)> write) {
    state_->write_tensor = std::move(write);
}
void ViewWindow::set_recorder(Callback<void()> toggle, Callback<std::string()> state) {
    state_->toggle_recording = std::move(toggle);
    state_->recording = std::move(state);
}
void ViewWindow::on_frame(Callback<void()> callback) { state_->callback = std::move(callback); }
const std::vector<KernelTime>& ViewWindow::kernel_times() const { return state_->kernels; }

std::vector<TraceEvent> ViewWindow::take_trace() {
    std::vector<TraceEvent> all = std::exchange(state_->events, {});
    if (VulkanExecutor* watched = state_->watched())
        for (TraceEvent& event : watched->take_trace()) all.push_back(std::move(event));
    return all;
}

void ViewWindow::set_inspector_tools(const InspectorTools& tools) {
    State& state = *state_;
    state.tools = tools;
    // An inspector that is open gets the tools as well.
    if (!state.inspector) return;
    state.toggle_inspector();
    state.toggle_inspector();
}

Executor& ViewWindow::runs() const { return *state_->runs; }
VulkanExecutor& ViewWindow::executor() const { return state_->drawer(); }
bool ViewWindow::has_executor() const { return state_->executor != nullptr; }

std::vector<std::byte> ViewWindow::read(const BufferView& view) const {
    return state_->bytes_of(view);
}

}  // namespace firn
