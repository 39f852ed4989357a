// Actions on all parameters of a window at once: presets, defaults, undo and redo; and the
// remembered layout of the panel.
#include "compiler/base/error.h"
#include "engine/window/text_file.h"
#include "engine/window/widgets.h"
#include "engine/window/window_state.h"

namespace firn {
namespace {

std::vector<std::string> names_of(const ParameterValues& values) {
    std::vector<std::string> names;
    for (const auto& [name, value] : values) names.push_back(name);
    return names;
}

}  // namespace

void ViewWindow::State::recall_panel() {
    // Runs of a fixed length are compared with each other, so they begin alike.
    if (!os || !options.remembers_panel || options.frames > 0) return;
    layout_path = panel_layout_path(options.title);
    if (layout_path.empty()) return;
    layout_before = read_panel_layout(layout_path);
    panel.set_layout(layout_before);
}

void ViewWindow::State::remember_panel() const {
    if (layout_path.empty() || panel.layout() == layout_before) return;
    try {
        write_panel_layout(layout_path, panel.layout());
    } catch (const UserError&) {
        // A person without a folder for settings does without.
    }
}

void ViewWindow::State::save_preset(const std::string& path) {
    try {
        write_text_file(path, preset_text(gui.parameters(), options.title));
        say("saved " + path);
    } catch (const UserError& error) {
        say(error.what());
    }
}

void ViewWindow::State::load_preset(const std::string& path) {
    Widgets& widgets = gui.widgets();
    const ParameterValues before = widgets.parameters.values();
    try {
        apply_preset(widgets.parameters, read_text_file(path), path, options.title, false);
        widgets.history.note(widgets.parameters, before, names_of(before));
        say("loaded " + path);
    } catch (const UserError& error) {
        say(error.what());
    }
}

void ViewWindow::State::set_defaults() {
    Widgets& widgets = gui.widgets();
    const ParameterValues before = widgets.parameters.values();
    try {
        widgets.parameters.reset();
    } catch (const UserError& error) {
        say(error.what());
    }
    widgets.history.note(widgets.parameters, before, names_of(before));
}

void ViewWindow::State::undo() {
    end_gesture();
    const auto placer = [this](size_t view, const ViewPlace& place) { put(view, place); };
    try {
        const std::string names = gui.widgets().history.undo(gui.parameters(), placer);
        say(names.empty() ? "there is nothing to undo" : "undo: " + names);
    } catch (const UserError& error) {
        say(error.what());
    }
}

void ViewWindow::State::redo() {
    end_gesture();
    const auto placer = [this](size_t view, const ViewPlace& place) { put(view, place); };
    try {
        const std::string names = gui.widgets().history.redo(gui.parameters(), placer);
        say(names.empty() ? "there is nothing to redo" : "redo: " + names);
    } catch (const UserError& error) {
        say(error.what());
    }
}

}  // namespace firn
