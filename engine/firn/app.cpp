// Runs a program as its command line says.
#include "engine/firn/app.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/frontend/environment.h"
#include "compiler/frontend/record.h"
#include "compiler/host/workers.h"
#include "engine/app/command_line.h"
#include "engine/app/end_deadline.h"
#include "engine/app/interrupt.h"
#include "engine/app/quiet.h"
#include "engine/app/recording.h"
#include "engine/app/trace_file.h"
#include "engine/firn/device_session.h"
#include "engine/firn/frame_numbers.h"
#include "engine/parameters/parameters.h"
#include "engine/runtime/trace_event.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/text_file.h"

namespace firn {
namespace {

/// Name of the living App, for messages of uncaught exceptions.
std::string uncaught_name;
std::terminate_handler terminate_before = nullptr;

/// Says what is being thrown, and gives the exit status for it.
int say_error(const std::string& name) {
    try {
        throw;
    } catch (const CommandLineEnd& end) {
        std::fputs((end.status ? name + ": " + end.text + "\n" : end.text).c_str(),
                   end.status ? stderr : stdout);
        return end.status;
    } catch (const UserError& error) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    } catch (...) {
        std::fprintf(stderr, "%s: an exception that is not a std::exception ended the program\n",
                     name.c_str());
    }
    return 1;
}

/// Exits without destructors, which would wait for a device that has been given up.
[[noreturn]] void end_at_once(const std::string& name) {
    const int status = say_error(name);
    std::fflush(stdout);
    std::_Exit(status);
}

[[noreturn]] void end_by_uncaught() {
    if (!std::current_exception()) std::abort();
    end_at_once(uncaught_name);
}

/// Sets an environment variable as long as it lives.
class EnvironmentScope {
  public:
    EnvironmentScope(const char* name, const std::string& value) : name_(name) {
        if (const char* known = std::getenv(name)) before_ = known;
        setenv(name, value.c_str(), 1);
    }
    ~EnvironmentScope() {
        if (before_)
            setenv(name_, before_->c_str(), 1);
        else
            unsetenv(name_);
    }
    EnvironmentScope(const EnvironmentScope&) = delete;
    EnvironmentScope& operator=(const EnvironmentScope&) = delete;

  private:
    const char* name_;
    std::optional<std::string> before_;
};

/// Writes the files of a run: its frames, a preset, a trace.
class Outputs {
  public:
    Outputs(Window& window, const CommandLine& line, const std::optional<Tensor>& numbers)
        : window_(window),
          line_(line),
          recording_(line.out, line.every, source_of(window, line, numbers), line.video_rate) {
        takes_frames_ = line.out.takes_all_frames() || !line.profile.empty();
        listen();
        if (line.out.takes_all_frames()) return;  // there is one video already
        window.set_recorder([this] { video_ ? end_video() : begin_video(); },
                            [this] { return video_text(); });
    }
    Outputs(const Outputs&) = delete;
    Outputs& operator=(const Outputs&) = delete;
    ~Outputs() {
        window_.on_frame({});
        window_.set_recorder({}, {});
    }

    void write() {
        if (video_) end_video();
        if (std::string written = recording_.finish(); !written.empty())
            std::printf("saved %s\n", written.c_str());
        if (!line_.save_preset.empty())
            write_text(line_.save_preset,
                       preset_text(window_.gui().parameters(), window_.options().title));
        if (!line_.profile.empty()) write_text(line_.profile, trace_text(trace_));
    }

    /// The run ended by an error: what was recorded until then is kept, and nothing new is drawn.
    void keep() {
        try {
            if (video_) end_video();
            if (line_.out.takes_all_frames() && window_.frame() > 0 && !broken_)
                std::printf("saved %s\n", recording_.finish().c_str());
            if (!line_.profile.empty()) write_text(line_.profile, trace_text(trace_));
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
        }
    }

    /// The device is still at work: videos end with the frames that they have. Says what is not
    /// written. Touches nothing of the window, which may be at work, too.
    std::string leave() {
        std::string missing;
        try {
            if (video_) std::printf("saved %s\n", video_->finish().c_str());
            if (line_.out.takes_all_frames())
                std::printf("saved %s\n", recording_.finish().c_str());
            else if (line_.out.kind != OutputFile::Kind::None)
                missing = ", and " + line_.out.path + " is not saved";
            if (!line_.profile.empty()) write_text(line_.profile, trace_text(trace_));
        } catch (const std::exception& error) {
            missing = std::string(", and ") + error.what();
        }
        return missing;
    }

    /// The run ended before its first frame.
    void give_up() {
        if (line_.out.kind != OutputFile::Kind::None)
            std::fprintf(stderr, "nothing was saved: no frame was drawn\n");
        if (!line_.profile.empty()) write_text(line_.profile, trace_text(trace_));
    }

  private:
    /// Sets the frame callback only if frames are recorded or traced: with it, frames of a
    /// minimised window are drawn too.
    void listen() {
        if (!takes_frames_ && !video_) return window_.on_frame({});
        window_.on_frame([this] {
            broken_ = true;
            recording_.add_frame();
            broken_ = false;
            if (video_) add_to_video();
            if (line_.profile.empty()) return;
            for (TraceEvent& event : window_.take_trace()) trace_.push_back(std::move(event));
        });
    }

    void begin_video() {
        const char* ending = can_make_videos() ? ".mp4" : ".gif";
        std::string path;
        for (int number = 1; path.empty() || std::filesystem::exists(path); ++number)
            path = window_.options().title + "-" + std::to_string(number) + ending;
        const WindowSize size = window_.pixels();  // even if the window is resized
        video_begin_ = window_.frame();
        try {
            video_ = std::make_unique<Recording>(
                output_file(path), 1,
                FrameSource{.picture = [this, size] { return window_.picture(size); },
                            .linear = {},
                            .write_array = {}},
                window_.video_rate());
        } catch (const UserError& error) {
            window_.say(error.what());
        }
        listen();
    }
    /// An error of writing ends the video, not the program.
    void add_to_video() {
        try {
            video_->add_frame();
        } catch (const UserError& error) {
            window_.say(error.what());
            video_.reset();
        }
    }
    void end_video() {
        try {
            const std::string written = "saved " + video_->finish();
            window_.say(written);
            std::printf("%s\n", written.c_str());
        } catch (const UserError& error) {
            window_.say(error.what());
        }
        video_.reset();
        listen();
    }
    std::string video_text() const {
        if (!video_) return "";
        return "recording, " + std::to_string(window_.frame() - video_begin_) + " frames";
    }

    static void write_text(const std::string& path, const std::string& text) {
        write_text_file(path, text);
        std::printf("saved %s\n", path.c_str());
    }
    static FrameSource source_of(Window& window, const CommandLine& line,
                                 const std::optional<Tensor>& numbers) {
        return {
            .picture =
                [&] {
                    // All frames have one size, even if the window is resized.
                    return line.out.takes_all_frames() ? window.picture(window.options().pixels())
                                                       : window.picture();
                },
            .linear = [&] { return linear_picture(window, numbers); },
            .write_array = [&](const std::string& path) { write_array(path, window, numbers); }};
    }

    Window& window_;
    const CommandLine& line_;
    Recording recording_;
    std::unique_ptr<Recording> video_;            // that the person has begun
    int video_begin_ = 0;                         // the frame
    bool takes_frames_ = false, broken_ = false;  // the latter: it could not be written
    std::vector<TraceEvent> trace_;
};

WindowOptions window_options(const AppInfo& info, const CommandLine& line) {
    WindowOptions options;
    options.title = info.name;
    options.size = line.size;
    options.scale = line.scale;
    options.fullscreen = line.fullscreen;
    options.headless = line.headless;
    options.frames = line.frames;
    options.max_rate = line.fps_limit;
    options.vsync = line.vsync;
    options.light = line.light;
    options.remembers_panel = !line.forget;
    options.gui_in_pictures = line.show_gui;
    options.print_widgets = line.print_widgets;
    options.inspect = line.inspect;
    options.profile = !line.profile.empty();
    options.runs_minimised = info.runs_minimised;
    options.video_rate = line.video_rate;
    options.keys = info.keys;
    return options;
}

/// Seconds that cut work has to end by itself, of the one second within which a signal ends a run;
/// the rest is for the files.
constexpr double kSecondsToCancel = 0.8;

/// The first signal ends the window as Escape does, which may ask before; if the user chooses to
/// stay, the signal is forgotten. The next one ends it at once.
class SignalledEnd {
  public:
    SignalledEnd(Window& window, InterruptScope& interrupts)
        : window_(window), interrupts_(interrupts) {}
    /// True if the window is to close now.
    bool is_due() {
        interrupts_.set_asks(window_.would_ask());
        if (interrupts_.count() != 1) {
            asked_ = false;
            return interrupts_.count() > 1;
        }
        if (!asked_) {
            if (!window_.would_ask()) return true;
            window_.request_end();
            asked_ = true;
        }
        if (window_.ending() == WindowEnd::Asks) return false;
        asked_ = false;
        if (window_.ending() == WindowEnd::Open)
            interrupts_.forget();
        else
            interrupts_.restart();  // the user's answer may have taken long
        return window_.ending() == WindowEnd::Closed;
    }

  private:
    Window& window_;
    InterruptScope& interrupts_;
    bool asked_ = false;
};

/// Runs the program. Returns the name of the long work in which it was cut; empty if it ran to its
/// end.
std::string run_to_end(Window& window, const Callback<void(Window&)>& program,
                       const InterruptScope& interrupts, EndDeadline& end) {
    const CancelScope cancels([&] { return interrupts.signal() != 0 && window.asks_to_end(); },
                              [&](const std::string& text) {
                                  if (interrupts.signal() != 0)
                                      end.begin(text, kSecondsToCancel - interrupts.seconds());
                              });
    try {
        program(window);
        return "";
    } catch (const Cancelled& cancelled) {
        window.close();
        return cancelled.what();
    }
}

/// Waits for the device, which the rest needs; after a signal only for so long: `seconds` from it.
void wait_until_idle(Device& device, const InterruptScope& interrupts, double seconds,
                     EndDeadline& end) {
    try {
        const CancelScope cancels([&] { return interrupts.seconds() > seconds; });
        device.wait_idle();
    } catch (const Cancelled& cancelled) {
        end.leave(cancelled.what());
    }
    end.has_ended();
}

/// FIRN_EXECUTOR chooses the default session's executor; without it, or where it is a device, the
/// device is ours to choose.
Session choose_session(const CommandLine& line) {
    const auto by_environment = environment("FIRN_EXECUTOR");
    if (by_environment && *by_environment != "device" && line.device.empty())
        return current_session();
    // The inspector watches Vulkan devices alone.
    return device_session({.device = line.device,
                           .only_vulkan = line.inspect && line.device.empty(),
                           .validation = line.validate});
}

/// The same for a program that runs in the current session, which may have a device already.
Session choose_current_session(const CommandLine& line) {
    Session session = current_session();
    auto& executor = session.state()->executor;
    if (!executor) {
        const Session chosen = choose_session(line);
        // Itself, where the environment chooses.
        if (chosen.state() != session.state()) executor = chosen.state()->executor;
        return session;
    }
    const DeviceProfile& profile = executor->profile();
    const bool is_native = profile.device_class == DeviceClass::Native;
    const bool is_it = line.device.empty() || (line.device == kCpuDevice && is_native);
    const bool validates = line.validate && environment_number("FIRN_VALIDATION", 0) == 0;
    if (is_it && !validates && !(line.inspect && is_native)) return session;
    const std::string asked = !is_it      ? "--device " + line.device
                              : validates ? "--validate"
                                          : "--inspect";
    throw UserError(asked + " comes too late: the program has computed on " + profile.name +
                    " before its run; compute inside of it, or choose by FIRN_DEVICE and "
                    "FIRN_VALIDATION");
}

/// Restores, at its end, whether the session compiles in the background.
class BackgroundScope {
  public:
    explicit BackgroundScope(const Session& session)
        : state_(session.state()), before_(state_->compiles_in_background) {}
    ~BackgroundScope() { state_->compiles_in_background = before_; }
    BackgroundScope(const BackgroundScope&) = delete;
    BackgroundScope& operator=(const BackgroundScope&) = delete;

  private:
    SharedPtr<SessionState> state_;
    std::optional<bool> before_;
};

/// Takes the devices from FIRN_DEVICE, where it lists several and the command line none.
void take_listed_devices(CommandLine& line, int most) {
    const std::string listed = environment("FIRN_DEVICE").value_or("");
    if (!line.device.empty() || listed.find(',') == std::string::npos) return;
    std::vector<std::string> devices = listed_devices("FIRN_DEVICE", listed, most);
    line.device = devices.front();
    line.other_devices.assign(devices.begin() + 1, devices.end());
}

/// The sessions of a run, until its end.
class DevicesScope {
  public:
    DevicesScope(std::vector<Session>& sessions, const Session& first, const CommandLine& line)
        : sessions_(sessions) {
        sessions_ = {first};
        for (const std::string& device : line.other_devices)
            sessions_.push_back(device_session(
                {.device = device, .validation = line.validate && device != kCpuDevice}));
        // Frames of a headless run are the same in every run: they must not depend on when a
        // program compiled in the background was ready.
        if (line.headless)
            for (const Session& session : sessions_) session.compile_in_background(false);
    }
    ~DevicesScope() { sessions_.clear(); }
    DevicesScope(const DevicesScope&) = delete;
    DevicesScope& operator=(const DevicesScope&) = delete;

    /// What the validation layers say of all of them.
    std::string validation_report() const {
        std::string report;
        for (const Session& session : sessions_) report += firn::validation_report(session);
        return report;
    }

  private:
    std::vector<Session>& sessions_;
};

/// Prints that programs run as native code, if that is the default and not the user's choice, and
/// that a trace then has no dispatches.
void say_device(const CommandLine& line, const Session& session) {
    const DeviceProfile& profile = session.profile();
    if (profile.device_class != DeviceClass::Native) return;
    const bool chosen =
        !line.device.empty() || environment("FIRN_DEVICE") || environment("FIRN_EXECUTOR");
    if (!chosen)
        std::printf(
            "there is no GPU, so programs run as %s on %zu threads (--device chooses another "
            "device)\n",
            profile.name.c_str(), wanted_threads());
    if (!line.profile.empty())
        std::fprintf(stderr,
                     "the trace has no dispatches: these are recorded on Vulkan devices (--device "
                     "chooses one)\n");
}

void set_parameters(Parameters& parameters, const CommandLine& line, const std::string& name) {
    if (!line.preset.empty())
        apply_preset(parameters, read_text_file(line.preset), line.preset, name);
    for (const auto& [which, value] : line.sets) parameters.set_when_added(which, value);
}

}  // namespace

struct App::State {
    AppInfo info;
    Gui gui;
    std::vector<ExtraOption> options;
    uint32_t seed = 1;
    bool writes_numbers = false, uses_current_session = false;
    std::optional<Tensor> numbers;
    std::vector<Session> devices;  // while it runs

    CommandLine parse(int argc, char** argv);
    int run_program(const CommandLine& line, const Callback<void(Window&)>& program);
};

CommandLine App::State::parse(int argc, char** argv) {
    CommandLine line = parse_command_line(
        argc, argv,
        {info.name, info.help, info.size, info.headless_frames, gui.parameters().operator->(),
         options, info.keys, info.version, info.devices});
    if (line.list_devices) throw CommandLineEnd{0, device_report()};
    take_listed_devices(line, info.devices);
    set_parameters(gui.parameters(), line, info.name);
    return line;
}

/// Gives the signal that ended the run; 0: none.
int App::State::run_program(const CommandLine& line, const Callback<void(Window&)>& program) {
    InterruptScope interrupts;
    Session session = uses_current_session ? choose_current_session(line) : choose_session(line);
    SessionScope scope(session);
    const BackgroundScope background(session);
    say_device(line, session);
    const DevicesScope all(devices, session, line);
    {
        Window window(window_options(info, line));
        window.gui() = gui;
        window.close_when(
            [end = SignalledEnd(window, interrupts)]() mutable { return end.is_due(); });
        Outputs outputs(window, line, numbers);
        // Exits without destructors, which would wait for the device and for threads that compile.
        EndDeadline end([&](const std::string& text) {
            std::fprintf(stderr, "%s: %s; the work is abandoned%s\n", info.name.c_str(),
                         text.c_str(), outputs.leave().c_str());
            std::fflush(stdout);
            std::fflush(stderr);
            std::_Exit(128 + interrupts.signal());
        });
        std::string ended_in;
        try {
            ended_in = run_to_end(window, program, interrupts, end);
            // Work of the program behind its last frame has no time limit.
            const double since = ended_in.empty() ? interrupts.seconds() : 0;
            if (window.has_executor())
                wait_until_idle(window.executor().device(), interrupts, since + kSecondsToCancel,
                                end);
            else
                end.has_ended();
        } catch (...) {
            end.has_ended();
            outputs.keep();
            if (window.has_executor() && window.executor().device().is_given_up())
                end_at_once(info.name);
            throw;
        }
        if (ended_in.empty())
            window.gui().parameters().check_all_known();
        else if (interrupts.signal() != 0)
            std::fprintf(stderr, "%s: %s\n", info.name.c_str(), ended_in.c_str());
        const bool has_frame = ended_in.empty() || window.frame() > 0;
        has_frame ? outputs.write() : outputs.give_up();
        if (window.lost_display())
            throw DeviceError(
                "the connection to the display was lost; the files that were asked for are saved");
        numbers.reset();
    }
    std::string report = all.validation_report();
    if (!report.empty()) throw DeviceError("validation messages:\n" + report);
    return interrupts.signal();
}

App::App(AppInfo info) : state_(std::make_shared<State>()) {
    state_->info = std::move(info);
    uncaught_name = state_->info.name;
    terminate_before = std::set_terminate(end_by_uncaught);
}

App::~App() { std::set_terminate(terminate_before); }

Gui& App::gui() { return state_->gui; }

void App::option(const std::string& name, std::string& value, const std::string& help) {
    state_->options.push_back({name, help, &value});
}

void App::output(const std::string& name, std::string& value, const std::string& help) {
    state_->options.push_back({name, help, &value, true});
}

void App::go_on_minimised() { state_->info.runs_minimised = true; }
bool App::writes_numbers() const { return state_->writes_numbers; }
void App::set_numbers(const Tensor& picture) { state_->numbers = picture; }
const std::vector<Session>& App::devices() const { return state_->devices; }
uint32_t App::seed() const { return state_->seed; }
void App::use_current_session() { state_->uses_current_session = true; }

int App::run(int argc, char** argv, const Callback<void(Window&)>& program) {
    try {
        const CommandLine line = state_->parse(argc, argv);
        std::optional<QuietScope> quiet;
        if (line.quiet) quiet.emplace();
        std::optional<EnvironmentScope> dump;
        if (!line.dump.empty()) dump.emplace("FIRN_DUMP_DIR", line.dump);
        state_->seed = line.seed;
        state_->writes_numbers =
            line.out.kind == OutputFile::Kind::Light || line.out.kind == OutputFile::Kind::Npy;
        const int signal = state_->run_program(line, program);
        return signal == 0 ? 0 : 128 + signal;
    } catch (...) {
        return say_error(state_->info.name);
    }
}

}  // namespace firn
