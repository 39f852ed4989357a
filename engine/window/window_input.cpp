// The person's input to a window, and the window's work while time stands still.
#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/window/camera.h"
#include "engine/window/colour_map.h"
#include "engine/window/number_text.h"
#include "engine/window/widgets.h"
#include "engine/window/window_state.h"

namespace firn {
namespace {

/// The turn, in radians, of a drag over the height of the window.
constexpr float kTurnOfAHeight = 3.14159265f;
/// The motion of a camera per second by a held key, as a share of its distance.
constexpr float kTravel = 0.8f;
/// The time after the last step of the wheel after which another one begins another move.
constexpr std::chrono::milliseconds kMoveTime{400};
/// The time between checks for things that are no events, such as a signal.
constexpr double kWaitSeconds = 0.25;

/// True for the shortcuts of undo and redo, which are the window's own.
bool is_undo(const InputEvent& event) {
    return event.kind == InputEvent::Kind::Key && event.is_press() && event.code == 'Z' &&
           event.control && !event.on_panel;
}
/// True for the press of a key that a program may ask for.
bool is_for_program(const InputEvent& event) {
    return event.kind == InputEvent::Kind::Key && event.is_press() && !event.on_panel &&
           !is_undo(event);
}

}  // namespace

void ViewWindow::State::take_input(double wait_seconds) {
    if (os) wait_seconds > 0 ? os->wait(wait_seconds) : os->poll();
    is_asked_to_end();
    if (!os) return;
    name_wait(0);
    shown.scale = display_scale();
    take_close();
    places_before = places();
    take_events();
    lively = input.changed || input.holds_something() ? kLivelyFrames : std::max(0, lively - 1);
    take_mouse();
    take_menu();
    take_camera();
    take_zoom();
    note_gesture();
    note_mouse();
    take_undo();
    save_and_end();
    if (closed && std::exchange(actions.screenshot, false)) screenshot();
}

void ViewWindow::State::take_events() {
    input = held;
    input.begin_frame();
    input.changed = os->take_change();
    const auto by_panel = [&](const auto& what) {
        if (hidden) return;
        PanelActions wanted{.kernels_open = actions.kernels_open};
        what(panel_state(), wanted);
        obey(wanted);
    };
    while (!serves && !kept_keys.empty() && input.has_room_for(kept_keys.front())) {
        input.events.push_back(kept_keys.front());
        kept_keys.pop_front();
    }
    const VkExtent2D at = extent();
    by_panel([&](const PanelState& state, PanelActions& wanted) {
        panel.begin_input(gui, state, static_cast<float>(at.width), static_cast<float>(at.height),
                          wanted);
    });
    const auto frame_is_due = [&] {
        return !kept_keys.empty() || step || reset || actions.screenshot;
    };
    while (os->next_event() && !closed && (serves || !frame_is_due())) {
        InputEvent event = *os->next_event();
        if (event.kind == InputEvent::Kind::Button && event.down)
            end_gesture();  // the next change is another step
        by_panel([&](const PanelState& state, PanelActions& wanted) {
            if (event.is_press()) event.on_panel = panel.sees(gui, event, state, wanted);
        });
        if (!serves && !input.has_room_for(event)) break;
        os->drop_event();
        by_panel([&](const PanelState& state, PanelActions& wanted) {
            panel.take(gui, event, state, wanted);
        });
        if (!event.on_panel) event.on_panel = take_key(event);
        input.add(event);
        if (serves && is_for_program(event)) kept_keys.push_back(event);
    }
    by_panel([&](const PanelState& state, PanelActions& wanted) {
        panel.end_input(gui, input, state, wanted);
    });
    held = input;
}

bool ViewWindow::State::take_key(const InputEvent& event) {
    if (event.kind == InputEvent::Kind::Character && event.code == '?' && !ending.asks)
        toggle_keys();
    if (event.kind != InputEvent::Kind::Key || !event.is_press() || !event.plain) return false;
    if (take_answer(event)) return true;
    switch (event.code) {
        case ' ': paused = !paused; break;
        case 'N': paused = step = true; break;
        case 'R': reset = true; break;
        case 'S': actions.screenshot = true; break;
        case 'H': hidden = !hidden; break;
        case static_cast<int>(Key::F1): toggle_keys(); break;
        case static_cast<int>(Key::F2): toggle_inspector(); break;
        case static_cast<int>(Key::F3): toggle_log(); break;
        case static_cast<int>(Key::Home):
            active_view().scene.camera = active_view().asked;
            active_view().zoom = {};
            break;
        case static_cast<int>(Key::F9):
            if (toggle_recording) toggle_recording();
            break;
        case static_cast<int>(Key::F11): os->toggle_fullscreen(); break;
        case static_cast<int>(Key::Escape):
            if (leave_innermost()) return true;
            request_end();
            break;
        default: break;
    }
    return false;
}

/// Undoes and redoes after everything else that was done in the same frame, even if that takes
/// long.
void ViewWindow::State::take_undo() {
    for (const InputEvent& event : input.events)
        if (is_undo(event)) event.shift ? redo() : undo();
}

/// Shows the panel too, which draws the keys.
void ViewWindow::State::toggle_keys() {
    keys_open = hidden || !keys_open;
    hidden = hidden && !keys_open;
}

/// Chooses the view under the mouse; a drag stays in the view where it began.
void ViewWindow::State::choose_view() {
    if (mouse.left.down || mouse.right.down || mouse.middle.down) return;
    float x = input.x, y = input.y;
    const auto press =
        std::find_if(input.events.begin(), input.events.end(), [](const InputEvent& event) {
            return event.kind == InputEvent::Kind::Button && event.down;
        });
    if (press != input.events.end()) x = press->x, y = press->y;
    const std::vector<Rectangle> cells = cells_of(shown, extent());
    for (size_t k = 0; k < cells.size(); ++k)
        if (x >= cells[k].x && y >= cells[k].y && x < cells[k].x + cells[k].width &&
            y < cells[k].y + cells[k].height)
            active = k;
}

void ViewWindow::State::take_mouse() {
    const size_t active_before = active;
    choose_view();
    const Mouse before = std::exchange(mouse, {});
    mouse.view = static_cast<int>(active);
    if (active_view().scene.is_empty()) return;
    const DrawPlacement at = placement_of(shown, active, extent());
    const Rectangle& area = at.area;
    const auto row = [&](float y) {
        return at.top + (y - area.y) / area.height * (at.bottom - at.top);
    };
    const auto column = [&](float x) {
        return at.left + (x - area.x) / area.width * (at.right - at.left);
    };
    const bool panel_has_it = !hidden && panel.wants_mouse();
    mouse.inside = !panel_has_it && input.x >= area.x && input.y >= area.y &&
                   input.x < area.x + area.width && input.y < area.y + area.height;
    mouse.i = row(input.y), mouse.j = column(input.x);
    // A drag that begins or ends within the frame is measured from there, or to there. There is no
    // earlier place if the mouse came from outside, or from a view with other units.
    const bool moved_on = !std::exchange(has_mouse, input.has_mouse()) || active != active_before;
    float from_i = moved_on ? mouse.i : before.i, from_j = moved_on ? mouse.j : before.j;
    MouseButton* buttons[3] = {&mouse.left, &mouse.right, &mouse.middle};
    const bool held_before[3] = {before.left.down, before.right.down, before.middle.down};
    bool was_down[3] = {before.left.down, before.right.down, before.middle.down};
    for (int k = 0; k < 3; ++k)
        buttons[k]->down = input.buttons[k] && (hidden || !panel.has_button(k));
    for (const InputEvent& event : input.events) {
        if (event.kind == InputEvent::Kind::Wheel && !event.on_panel) mouse.wheel += event.wheel;
        // A button may be released that was pressed elsewhere.
        if (event.kind != InputEvent::Kind::Button || event.on_panel ||
            !(event.down || was_down[event.code]))
            continue;
        was_down[event.code] = event.down;
        MouseButton& button = *buttons[event.code];
        (event.down ? button.pressed : button.released) = true;
        button.down |= event.down;
        (event.down ? from_i : mouse.i) = row(event.y);
        (event.down ? from_j : mouse.j) = column(event.x);
    }
    // Buttons that were released while the program waited are reported now.
    for (int k = 0; k < 3; ++k) buttons[k]->released |= held_before[k] && !buttons[k]->down;
    mouse.di = mouse.i - from_i;
    mouse.dj = mouse.j - from_j;
}

/// The program's frame gets what the mouse did since the last one, served or not. A stroke that
/// ended meanwhile stays where it ended.
void ViewWindow::State::note_mouse() {
    Mouse all = mouse;
    if (const auto& before = kept_mouse) {
        const auto any = [](const Mouse& of, bool MouseButton::*what) {
            return of.left.*what || of.right.*what || of.middle.*what;
        };
        if (any(*before, &MouseButton::released) && !any(mouse, &MouseButton::down))
            all = *before;
        else if (before->view == mouse.view && !any(mouse, &MouseButton::pressed))
            all.di += before->di, all.dj += before->dj;
        all.wheel = before->wheel + mouse.wheel;
        for (MouseButton Mouse::*which : {&Mouse::left, &Mouse::right, &Mouse::middle}) {
            const MouseButton &was = (*before).*which, &is = mouse.*which;
            // A press shorter than a frame is down for that frame.
            all.*which = {is.down || was.pressed, is.pressed || was.pressed,
                          is.released || was.released};
        }
    }
    if (serves) {
        kept_mouse = all;
    } else {
        frame_mouse = all;
        kept_mouse.reset();
    }
}

void ViewWindow::State::take_camera() {
    if (!active_view().scene.is_in_space()) return;
    const float height = placement_of(shown, active, extent()).area.height;
    const auto down = [&](Key key) {
        const bool typing = !hidden && panel.wants_keys();
        return !typing && input.keys[static_cast<size_t>(key)] ? 1.0f : 0.0f;
    };
    CameraMotion motion;
    const bool shifts = mouse.right.down || mouse.middle.down || down(Key::Shift) > 0;
    if (shifts && (mouse.left.down || mouse.right.down || mouse.middle.down)) {
        motion.shift_right = mouse.dj / height, motion.shift_down = mouse.di / height;
    } else if (mouse.left.down) {
        // The drawing follows the mouse; a flying camera turns to where the mouse goes.
        motion.turn_right = -mouse.dj * kTurnOfAHeight / height;
        motion.turn_up = mouse.di * kTurnOfAHeight / height;
    }
    motion.nearer = mouse.wheel;
    const float travel = kTravel * static_cast<float>(std::min(last_seconds, 0.1));
    motion.right = travel * (down(Key::Right) - down(Key::Left));
    motion.forward = travel * (down(Key::Up) - down(Key::Down));
    motion.up = travel * (down(Key::PageUp) - down(Key::PageDown));
    move_camera(active_view().scene.camera, motion);
}

std::vector<ViewPlace> ViewWindow::State::places() const {
    std::vector<ViewPlace> out;
    for (const SceneView& view : shown.views) out.push_back({view.scene.camera, view.zoom});
    return out;
}

void ViewWindow::State::put(size_t view, const ViewPlace& place) {
    if (view >= shown.views.size()) return;  // the program no longer shows it
    shown.views[view].scene.camera = place.camera;
    shown.views[view].zoom = place.zoom;
    places_before = places();
}

void ViewWindow::State::note_gesture() {
    const auto drags = [](const MouseButton& button) { return button.down || button.released; };
    const bool drag = drags(mouse.left) || drags(mouse.right) || drags(mouse.middle);
    const bool wheeled =
        std::any_of(input.events.begin(), input.events.end(),
                    [](const InputEvent& event) { return event.kind == InputEvent::Kind::Wheel; });
    bool acts = mouse.wheel != 0 || (drag && (mouse.di != 0 || mouse.dj != 0));
    const auto begin = [&] {
        if (!gesture) gesture = Gesture{gui.parameters()->values(), {}, {}, false};
        acts = true;
    };
    if (acts) begin();
    const std::vector<ViewPlace> now = places();
    for (size_t view = 0; view < now.size(); ++view) {
        if (now[view] == places_before[view]) continue;
        if (gesture && gesture->move && gesture->move->view != view) end_gesture();
        begin();
        if (!gesture->move) gesture->move = ViewMove{view, places_before[view], {}};
        gesture->move->after = now[view];
    }
    if (!gesture) return;
    if (acts)
        gesture->last = FrameClock::now(), gesture->by_wheel = wheeled;
    else if (!input.holds_something() &&
             (!gesture->by_wheel || FrameClock::now() - gesture->last > kMoveTime))
        end_gesture();
}

void ViewWindow::State::end_gesture() {
    if (!gesture) return;
    std::vector<std::string> names;
    for (const auto& [name, value] : gesture->before) names.push_back(name);
    gui.widgets().history.note(gui.parameters(), gesture->before, names, gesture->move);
    gesture.reset();
}

std::string ViewWindow::State::value_at(float i, float j) const {
    const DrawScene& scene = active_view().scene;
    const BufferView& picture = scene.picture.memory ? scene.picture : scene.overlay;
    if (!picture.memory) return "";
    const auto row = static_cast<int64_t>(i), column = static_cast<int64_t>(j);
    if (i < 0 || j < 0 || row >= picture.shape[0] || column >= picture.shape[1]) return "";
    const int64_t channels = picture.shape.size() == 3 ? picture.shape[2] : 1;
    const auto width = static_cast<int64_t>(picture.dtype.bytes());
    std::vector<std::byte> bytes(static_cast<size_t>(channels * width));
    const int64_t first = (row * picture.shape[1] + column) * channels * width;
    runs->read(*picture.memory, picture.offset + static_cast<uint64_t>(first), bytes);
    std::string text = "[" + std::to_string(row) + ", " + std::to_string(column) + "] =";
    for (int64_t c = 0; c < channels; ++c) {
        const double value =
            load_scalar(picture.dtype, &bytes[static_cast<size_t>(c * width)]).as_double();
        text += " " + number_text(value, 6);
    }
    return text;
}

void ViewWindow::State::take_zoom() {
    const float from_x = std::exchange(zoom_from_x, input.x);
    const float from_y = std::exchange(zoom_from_y, input.y);
    hint.clear();
    SceneView& view = active_view();
    if (view.scene.is_empty() || view.scene.is_in_space()) return;
    const Rectangle area = placement_of(shown, active, extent()).area;
    for (const InputEvent& event : input.events) {
        if (event.kind != InputEvent::Kind::Wheel || !event.control || event.on_panel) continue;
        mouse.wheel -= event.wheel;  // the program does not see it
        const float x = (event.x - area.x) / area.width, y = (event.y - area.y) / area.height;
        if (x >= 0 && y >= 0 && x < 1 && y < 1) zoom_about(view.zoom, x, y, event.wheel);
    }
    const bool typing = !hidden && panel.wants_keys();
    if (typing || !input.has_control() || !mouse.inside) return;
    if (mouse.left.down && !mouse.left.pressed)
        pan(view.zoom, (input.x - from_x) / area.width, (input.y - from_y) / area.height);
    hint = value_at(mouse.i, mouse.j);
    if (hint.find("nan") != std::string::npos) hint += kNanNote;
    // The program does not see this input.
    mouse.left = mouse.right = mouse.middle = {};
    mouse.wheel = 0;
}

std::vector<ViewWindow::State*>& ViewWindow::State::on_screen() {
    static std::vector<State*> all;
    return all;
}

/// True if the window is minimised and its frames need not be drawn; frames that are counted or
/// recorded are drawn in any case.
bool ViewWindow::State::is_unseen() const {
    return os && os->is_minimised() && !options.runs_minimised && options.frames == 0 && !callback;
}

bool ViewWindow::State::stands_still() const { return (paused || is_unseen()) && !step && !reset; }

bool ViewWindow::State::is_lively() const {
    return lively > 0 || shown_messages(log, now_seconds()).size() != messages_drawn ||
           (inspector && inspector->is_reading() && !is_unseen());
}

bool ViewWindow::State::others_go_on() const {
    const auto& all = on_screen();
    return std::any_of(all.begin(), all.end(), [&](const State* other) {
        return other != this && other->started && !other->closed &&
               (!other->stands_still() || other->is_lively() || other->os->has_input());
    });
}

bool ViewWindow::State::serve_others() {
    for (State* other : on_screen()) {
        if (other == this || !other->started || other->closed) continue;
        other->take_input();
        if (other->closed) return false;
        if (other->is_lively()) other->draw();
    }
    return true;
}

void ViewWindow::State::hold() {
    while (!closed && stands_still()) {
        if ((asks_playing || !paused) && others_go_on()) return;
        if (asks_playing && is_lively() && !is_unseen()) return;
        if (is_lively()) draw();
        if (!serve_others()) return;
        const auto& all = on_screen();
        const bool busy = std::any_of(all.begin(), all.end(),
                                      [](const State* each) { return each->is_lively(); });
        take_input(busy ? 0 : kWaitSeconds);
        if (!busy) last = FrameClock::now();  // the wait is no frame's time
    }
}

}  // namespace firn
