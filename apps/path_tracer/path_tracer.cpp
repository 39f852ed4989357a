// A progressive path tracer: fractals and spheres in the light of a panorama.
#include <firn/firn.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "apps/path_tracer/trace.h"
#include "compiler/base/error.h"

using namespace firn;
using namespace firn::path_tracer;

namespace {

/// The panorama that is used where none is given, beside the sources.
std::string default_panorama() {
    return (std::filesystem::path(__FILE__).parent_path() / "../../assets/sky.hdr")
        .lexically_normal();
}

void write_light(const std::string& path, const Film& film) {
    save_image(path, linear_picture(film));
    std::printf("saved %s\n", path.c_str());
}

/// Moves the camera: dragging turns it around the object, the right button and the wheel bring it
/// nearer, arrows move it along the ground, E and Q up and down.
void move(Camera& camera, const Window& window, float seconds) {
    const Mouse& mouse = window.mouse();
    float per_pixel = 3.0f / float(window.pixels().height);
    if (mouse.left.down) {
        camera.around -= mouse.dj * per_pixel;
        camera.above = std::clamp(camera.above + mouse.di * per_pixel, -1.5f, 1.5f);
    }
    float nearer = 0.12f * mouse.wheel - (mouse.right.down ? mouse.di * per_pixel : 0.0f);
    camera.distance = std::clamp(camera.distance * std::exp(-nearer), 0.2f, 50.0f);
    float step = seconds * camera.distance;
    auto axis = [&](auto plus, auto minus) {
        return step * (float(window.key_down(plus)) - float(window.key_down(minus)));
    };
    float ahead = axis(Key::Up, Key::Down), aside = axis(Key::Right, Key::Left);
    float s = std::sin(camera.around), c = std::cos(camera.around);
    camera.at[0] += aside * c - ahead * s;
    camera.at[1] += axis('E', 'Q');
    camera.at[2] += -aside * s - ahead * c;
}

void add_parameters(Gui& gui, Settings& settings) {
    const std::string eye = "Camera", object = "Object", light = "Light";
    Camera& camera = settings.camera;
    gui.parameter("scene", settings.scene, scene_names(), {.help = "scene that is rendered"});
    gui.parameter("bounces", settings.bounces,
                  {.min = 1, .max = 12, .help = "maximum number of surfaces on a path"});
    gui.angle("view", camera.view,
              {.min = 0.1, .max = 2, .group = eye, .help = "vertical field of view"});
    gui.parameter("aperture", camera.aperture,
                  {.min = 0,
                   .max = 0.5,
                   .group = eye,
                   .help = "aperture of the lens: larger values blur what is out of focus"});
    // The mouse goes round and round.
    gui.angle("around", camera.around, {.soft_min = -6.3, .soft_max = 6.3, .group = eye});
    gui.angle("above", camera.above, {.min = -1.5, .max = 1.5, .group = eye});
    gui.parameter(
        "distance", camera.distance,
        {.min = 0.2, .max = 50, .log = true, .group = eye, .help = "distance of the camera"});
    gui.colour("colour", settings.colour,
               {.group = object, .help = "colour of the object in the middle"});
    gui.parameter(
        "roughness", settings.roughness,
        {.min = 0, .max = 1, .group = object, .help = "roughness of the surface; 0 is a mirror"});
    gui.parameter(
        "metal", settings.metal,
        {.min = 0, .max = 1, .group = object, .help = "metalness of the surface: 1 is metal"});
    gui.parameter(
        "coat", settings.coat,
        {.min = 0, .max = 4, .group = object, .help = "strength of the reflection on non-metals"});
    gui.parameter("ground", settings.ground,
                  {.min = 0, .max = 1, .group = light, .help = "brightness of the ground"});
    gui.parameter(
        "sky_turn", settings.sky_turn,
        {.min = 0, .max = 1, .label = "sky turn", .group = light, .help = "rotation of the sky"});
    gui.parameter("sky_strength", settings.sky_strength,
                  {.min = 0,
                   .max = 10,
                   .label = "sky strength",
                   .group = light,
                   .help = "brightness of the sky"});
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    std::string hdr;
    App app({.name = "path_tracer",
             .help = "A path tracer: drag to look around a fractal or spheres.",
             .keys = "Drag: rotate around the object; right button and wheel: zoom; arrows: move "
                     "along the ground; E and Q: up and down.",
             .size = {640, 360},
             .headless_frames = 1});
    add_parameters(app.gui(), settings);
    Param<float> exposure{
        app, "exposure", 0.0f, {.min = -6, .max = 6, .unit = "stops", .group = "Light"}};
    Param<int> samples{
        app, "samples", 1, {.min = 1, .soft_max = 64, .help = "samples per pixel and frame"}};
    Param<File> panorama{app,
                         "sky",
                         default_panorama(),
                         {.group = "Light",
                          .help = "panorama that lights the scene from the next reset: Radiance "
                                  "HDR, OpenEXR, PNG or JPEG"}};
    app.output("hdr", hdr, "file for the linear picture, .hdr or .exr");

    return app.run(argc, argv, [&](Window& window) {
        Sky sky = make_sky(load_image(panorama, {.linear = true}));
        WindowSize size = window.pixels();
        Settings shown = settings;
        std::optional<Tracer> tracer;
        Film film = make_film(size.height, size.width);
        window.menu_by_right_click(false);
        while (window.open()) {
            move(settings.camera, window, 1.0f / 60);
            const bool anew = window.reset();
            if (anew && panorama.changed()) try {
                    sky = make_sky(load_image(panorama, {.linear = true}));
                    tracer.reset();
                } catch (const UserError& error) {  // it is none
                    window.say(error.what());
                }
            if (!tracer || settings.scene != shown.scene)
                tracer.emplace(static_cast<SceneName>(settings.scene), sky);
            if (anew || !(settings == shown) || size != window.pixels()) {
                size = window.pixels();
                film = make_film(size.height, size.width);
            }
            shown = settings;
            // A pause keeps the samples that there are; what changed is seen by its first.
            const int more = window.playing() || film.samples == 0 ? int(samples) : 0;
            for (int k = 0; k < more; ++k) tracer->add_sample(film, settings, app.seed());
            window.gui().text("samples so far", std::to_string(film.samples));
            window.show(developed(film, exposure));
            if (app.writes_numbers()) app.set_numbers(linear_picture(film));
        }
        if (!hdr.empty()) write_light(hdr, film);
    });
}
