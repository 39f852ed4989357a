// Brings data from a window to the host: pictures of its frames, and tensors after them.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "engine/runtime/vulkan_executor.h"
#include "engine/window/host_picture.h"
#include "engine/window/text_file.h"
#include "engine/window/widgets.h"
#include "engine/window/window_state.h"

namespace firn {

Picture ViewWindow::State::picture(VkExtent2D size) {
    Frame frame = shown;
    frame.gui = nullptr;
    frame.scale = display_scale();
    if (!os && !watched()) {
        const std::string missing = options.gui_in_pictures ? "panel" : not_on_host(frame);
        const auto bytes = [this](const BufferView& view) { return bytes_of(view); };
        if (missing.empty()) return host_picture(frame, size, bytes);
        try {
            drawer();
        } catch (const DeviceError& error) {
            throw DeviceError(std::string(error.what()) + "; pictures without one have no " +
                              missing);
        }
    }
    if (options.gui_in_pictures) reads.finish();
    if (options.gui_in_pictures)
        frame.gui = panel.draw_in(gui, panel_state(), static_cast<float>(size.width),
                                  static_cast<float>(size.height));
    return painter().picture(on_device(frame), size);
}

std::string free_path(const std::string& pattern, int& number) {
    std::string path;
    do {
        path = pattern;
        const size_t at = path.find("{}");
        if (at == std::string::npos) break;
        path.replace(at, 2, std::to_string(++number));
    } while (std::filesystem::exists(path));
    return path;
}

void ViewWindow::State::screenshot() {
    std::string pattern =
        options.screenshot_path.empty() ? options.title + "-{}.png" : options.screenshot_path;
    const std::string path = free_path(pattern, screenshots);
    try {
        write_picture(path, picture(extent()));
    } catch (const UserError& error) {
        // With a window, a person can correct it, and the program may have run for long.
        std::fprintf(stderr, "%s: %s\n", options.title.c_str(), error.what());
        return say(error.what());
    }
    say("saved " + path);
    std::printf("saved %s\n", path.c_str());
    std::fflush(stdout);
}

void ViewWindow::State::save_plot(const std::string& name) {
    const Widget* widget = gui.find(name);
    if (!widget) return;
    std::string word = name;  // of the user, who may have put anything into it
    std::replace_if(
        word.begin(), word.end(),
        [](unsigned char c) { return c < 0x80 && !std::isalnum(c) && c != '_'; }, '-');
    const std::string path = free_path(options.title + "-" + word + "-{}.csv", saved_plots);
    try {
        write_text_file(path, csv_text(widget->plot));
    } catch (const UserError& error) {
        return say(error.what());
    }
    say("saved " + path);
    std::printf("saved %s\n", path.c_str());
    std::fflush(stdout);
}

bool ViewWindow::State::end() {
    within_memory("reading for window", options.title, [&] { reads.finish(); });
    return false;
}

void ViewWindow::read_later(const std::vector<BufferView>& views,
                            Callback<void(const std::vector<std::vector<float>>&)> take) {
    within_memory("reading for window", state_->options.title,
                  [&] { state_->reads.ask(views, std::move(take)); });
}

void ViewWindow::finish_reads() { state_->end(); }

Picture ViewWindow::picture() { return picture(pixels()); }

Picture ViewWindow::picture(WindowSize size) {
    const VkExtent2D extent{static_cast<uint32_t>(size.width), static_cast<uint32_t>(size.height)};
    return within_memory("drawing window", state_->options.title,
                         [&] { return state_->picture(extent); });
}

void ViewWindow::save(const std::string& path) { write_picture(path, picture()); }

}  // namespace firn
