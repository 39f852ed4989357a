// Runs a demo as its command line says.
#include "apps/common/demo.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "apps/common/command_line.h"
#include "apps/common/exr.h"
#include "apps/common/interrupt.h"
#include "apps/common/trace.h"
#include "apps/common/video.h"
#include "compiler/frontend/environment.h"
#include "compiler/program/error.h"
#include "engine/runtime/trace_event.h"

namespace firn {
namespace {

std::string file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) throw UserError("file " + path + ": cannot be read");
    return text.str();
}

bool ends_in(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

LinearPicture linear_picture(const std::optional<Tensor>& given) {
    ensure(given.has_value(), "the demo gave no linear picture");
    return {given->size(1), given->size(0), given->to_vector<float>()};
}

/// What a run leaves behind: a picture, a film, a trace.
class Outputs {
  public:
    Outputs(Window& window, const CommandLine& line) : window_(window), line_(line) {
        if (ends_in(line.out, ".mp4")) video_ = std::make_unique<VideoWriter>(line.out);
        if (!video_ && line.profile.empty()) return;
        window.on_frame([this] {
            // Of one size, whatever becomes of the window.
            if (video_) video_->add(window_.picture(window_.options().size));
            if (line_.profile.empty()) return;
            for (TraceEvent& event : window_.take_trace()) trace_.push_back(std::move(event));
        });
    }
    Outputs(const Outputs&) = delete;
    Outputs& operator=(const Outputs&) = delete;
    ~Outputs() { window_.on_frame({}); }

    void write(const std::optional<Tensor>& linear) {
        if (video_) {
            std::printf("wrote %s\n", video_->finish().c_str());
        } else if (ends_in(line_.out, ".exr")) {
            write_exr(line_.out, linear_picture(linear));
            std::printf("wrote %s\n", line_.out.c_str());
        } else if (!line_.out.empty()) {
            window_.save(line_.out);
            std::printf("wrote %s\n", line_.out.c_str());
        }
        if (!line_.profile.empty()) {
            write_text_file(line_.profile, trace_text(trace_));
            std::printf("wrote %s\n", line_.profile.c_str());
        }
    }

  private:
    Window& window_;
    const CommandLine& line_;
    std::unique_ptr<VideoWriter> video_;
    std::vector<TraceEvent> trace_;
};

WindowOptions window_options(const DemoInfo& info, const CommandLine& line) {
    WindowOptions options;
    options.title = info.name;
    options.size = line.size;
    options.headless = line.headless;
    options.frames = line.frames;
    options.gui_in_pictures = line.show_gui;
    options.print_widgets = line.print_widgets;
    options.profile = !line.profile.empty();
    return options;
}

void set_parameters(Parameters& parameters, const CommandLine& line) {
    if (!line.preset.empty()) apply_preset(parameters, file_text(line.preset), line.preset);
    for (const auto& [name, value] : line.sets) parameters.set_when_added(name, value);
}

/// Gives the signal that ended the run; 0: none.
int run_program(const WindowOptions& options, const CommandLine& line, const Gui& gui,
                const std::function<void(Window&)>& program, std::optional<Tensor>& linear) {
    const InterruptScope interrupts;
    // FIRN_EXECUTOR chooses the default session's executor; without it, the device is ours to
    // choose.
    bool by_environment = environment("FIRN_EXECUTOR").has_value() && line.device.empty();
    Session session =
        by_environment ? current_session() : device_session({line.device, line.validate});
    SessionScope scope(session);
    {
        Window window(options);
        window.gui() = gui;
        window.close_when([&] { return interrupts.signal() != 0; });
        Outputs outputs(window, line);
        program(window);
        window.gui().parameters().check_all_known();
        outputs.write(std::exchange(linear, std::nullopt));
    }
    std::string report = validation_report(session);
    if (!report.empty()) throw DeviceError("validation messages:\n" + report);
    return interrupts.signal();
}

}  // namespace

void Demo::option(const std::string& name, std::string& value, const std::string& help) {
    options_.push_back({name, help, &value});
}

void Demo::output(const std::string& name, std::string& value, const std::string& help) {
    options_.push_back({name, help, &value, true});
}

int Demo::run(int argc, char** argv, const std::function<void(Window&)>& program) {
    try {
        CommandLineSpec spec{info_.name,         info_.help, info_.size,   info_.headless_frames,
                             &gui_.parameters(), {},         info_.linear, info_.keys};
        for (const Option& option : options_)
            spec.extras.push_back({option.name, option.help, option.value, option.written});
        CommandLine line = parse_command_line(argc, argv, spec);
        if (line.list_devices) {
            std::fputs(device_report().c_str(), stdout);
            return 0;
        }
        set_parameters(gui_.parameters(), line);
        seed_ = line.seed;
        WindowOptions options = window_options(info_, line);
        options.runs_minimised = runs_minimised_;
        const int signal = run_program(options, line, gui_, program, linear_);
        return signal == 0 ? 0 : 128 + signal;
    } catch (const CommandLineEnd& end) {
        std::string text = end.status ? info_.name + ": " + end.text + "\n" : end.text;
        std::fputs(text.c_str(), end.status ? stderr : stdout);
        return end.status;
    } catch (const UserError& error) {
        std::fprintf(stderr, "%s: %s\n", info_.name.c_str(), error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", info_.name.c_str(), error.what());
        return 1;
    }
}

}  // namespace firn
