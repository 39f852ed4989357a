// The menu of a picture that the right button opens, and what it saves.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "compiler/base/error.h"
#include "engine/window/window_state.h"

namespace firn {
namespace {

/// The most pixels that the mouse moves in a click; a longer way is a drag.
constexpr float kSteady = 4;
constexpr int kRight = 1;

const BufferView& picture_of(const DrawScene& scene) {
    return scene.picture.memory ? scene.picture : scene.overlay;
}

}  // namespace

void ViewWindow::State::take_menu() {
    const SceneView& view = active_view();
    const Rectangle area = placement_of(shown, active, extent()).area;
    for (const InputEvent& click : input.events) {
        if (click.kind != InputEvent::Kind::Button || click.code != kRight) continue;
        if (click.down) {
            const bool inside = click.x >= area.x && click.y >= area.y &&
                                click.x < area.x + area.width && click.y < area.y + area.height;
            const bool taken =
                click.on_panel || hidden || !inside || !picture_of(view.scene).memory;
            menu.press_x = !taken && (menu.by_click || click.control) ? click.x : -1e9f;
            menu.press_y = click.y;
            continue;
        }
        const float moved = std::abs(click.x - menu.press_x) + std::abs(click.y - menu.press_y);
        if (click.on_panel || moved > kSteady) continue;
        menu.opens = true;
        menu.view = active;
        menu.value = view.scene.is_in_space() ? "" : value_at(mouse.i, mouse.j);
    }
}

void ViewWindow::State::fill_menu(PanelState& state) const {
    const BufferView& picture =
        picture_of(shown.views[std::min(menu.view, shown.views.size() - 1)].scene);
    state.opens_menu = menu.opens && picture.memory;
    if (!picture.memory) return;
    state.menu_title = picture.dtype.name() + shape_text(picture.shape);
    state.menu_value = menu.value;
    state.menu_endings = {".png"};
    if (write_tensor) state.menu_endings = {".npy", ".png", ".exr"};
}

void ViewWindow::State::save_picture(const std::string& ending) {
    if (menu.view >= shown.views.size()) return;
    const DrawScene& scene = shown.views[menu.view].scene;
    const BufferView& picture = picture_of(scene);
    if (!picture.memory) return;
    const std::string path = free_path(options.title + "-picture-{}" + ending, saved_pictures);
    try {
        if (ending == ".png") {  // as it is shown, an element for each pixel
            Frame frame;
            DrawScene& alone = frame.views.front().scene;
            alone.picture = picture;
            alone.options = scene.picture.memory ? scene.options : scene.overlay_options;
            alone.options.colour_bar = false;
            alone.options.opacity = 1;
            write_picture(path, painter().picture(on_device(frame),
                                                  {static_cast<uint32_t>(picture.shape[1]),
                                                   static_cast<uint32_t>(picture.shape[0])}));
        } else {
            write_tensor(picture, path);
        }
    } catch (const UserError& error) {
        return say(error.what());
    }
    say("saved " + path);
    std::printf("saved %s\n", path.c_str());
    std::fflush(stdout);
}

}  // namespace firn
