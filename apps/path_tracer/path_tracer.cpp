// A progressive path tracer: fractals and spheres in the light of a panorama.
#include <firn/firn.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "apps/path_tracer/trace.h"

using namespace firn;
using namespace firn::path_tracer;

namespace {

/// The panorama that is used where none is given, beside the sources.
std::string default_panorama() {
    return (std::filesystem::path(__FILE__).parent_path() / "../../assets/sky.hdr")
        .lexically_normal();
}

int sample_count(const std::string& text) {
    int count = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 1)
        throw UserError("samples: \"" + text + "\" is no count; give a whole number above 0");
    return count;
}

void write_hdr(const std::string& path, const Film& film) {
    Tensor picture = linear_picture(film);
    int height = picture.size(0), width = picture.size(1);
    std::vector<float> pixels = picture.to_vector<float>();
    if (!stbi_write_hdr(path.c_str(), width, height, 3, pixels.data()))
        throw UserError("picture " + path +
                        ": cannot be written; name a file in a folder that exists");
    std::printf("wrote %s\n", path.c_str());
}

/// Dragging turns around the object, the right button and the wheel go nearer, arrows move along
/// the ground, E and Q up and down.
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

void make_sliders(Gui& gui, Settings& settings, float& exposure) {
    Camera& camera = settings.camera;
    gui.combo("scene", settings.scene, scene_names(), "what is seen");
    gui.slider("exposure", exposure, -6.0f, 6.0f, {.help = "in stops"});
    gui.slider("bounces", settings.bounces, 1, 12, {.help = "surfaces that a path may meet"});
    gui.slider("view", camera.view, 0.1f, 2.0f, {.help = "angle of the picture's height"});
    gui.slider("aperture", camera.aperture, 0.0f, 0.5f,
               {.help = "of the lens: blurs near and far"});
    gui.slider("around", camera.around, -6.3f, 6.3f, {.help = "where the eye is, as an angle"});
    gui.slider("above", camera.above, -1.5f, 1.5f, {.help = "where the eye is, as an angle"});
    gui.slider("distance", camera.distance, 0.2f, 50.0f,
               {.help = "of the eye", .logarithmic = true});
    gui.slider("red", settings.colour[0], 0.0f, 1.0f, {.help = "of the object in the middle"});
    gui.slider("green", settings.colour[1], 0.0f, 1.0f);
    gui.slider("blue", settings.colour[2], 0.0f, 1.0f);
    gui.slider("roughness", settings.roughness, 0.0f, 1.0f, {.help = "0 mirrors"});
    gui.slider("metal", settings.metal, 0.0f, 1.0f, {.help = "how much of a metal it is"});
    gui.slider("coat", settings.coat, 0.0f, 4.0f, {.help = "reflection of what is no metal"});
    gui.slider("ground", settings.ground, 0.0f, 1.0f, {.help = "brightness of the ground"});
    gui.slider("sky_turn", settings.sky_turn, 0.0f, 1.0f, {.help = "turns the light around"});
    gui.slider("sky_strength", settings.sky_strength, 0.0f, 10.0f,
               {.help = "brightness of the sky"});
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    float exposure = 0;
    std::string panorama = default_panorama(), hdr, samples_text = "1";
    App app({.name = "path_tracer",
             .help = "A path tracer: drag to look around a fractal or spheres.",
             .keys = "Dragging turns around the object, the right button and the wheel go "
                     "nearer, arrows move along the ground, E and Q go up and down.",
             .size = {640, 360},
             .headless_frames = 1});
    make_sliders(app.gui(), settings, exposure);
    app.option("sky", panorama, "panorama that gives the light: Radiance HDR, PNG or JPEG");
    app.option("samples", samples_text, "samples of every pixel in a frame");
    app.output("hdr", hdr, "file for the linear picture, Radiance HDR");

    return app.run(argc, argv, [&](Window& window) {
        int samples = sample_count(samples_text);
        Sky sky = make_sky(load_panorama(panorama));
        WindowSize size = window.pixels();
        Settings shown = settings;
        std::optional<Tracer> tracer;
        Film film = make_film(size.height, size.width);
        while (window.open()) {
            move(settings.camera, window, 1.0f / 60);
            if (!tracer || settings.scene != shown.scene)
                tracer.emplace(static_cast<SceneName>(settings.scene), sky);
            if (window.reset() || !(settings == shown) || size != window.pixels()) {
                size = window.pixels();
                film = make_film(size.height, size.width);
            }
            shown = settings;
            // A pause keeps the samples that there are; what changed is seen by its first.
            const int more = window.playing() || film.samples == 0 ? samples : 0;
            for (int k = 0; k < more; ++k) tracer->add_sample(film, settings, app.seed());
            window.gui().text("samples", std::to_string(film.samples));
            window.show(developed(film, exposure));
            if (app.writes_numbers()) app.set_numbers(linear_picture(film));
        }
        if (!hdr.empty()) write_hdr(hdr, film);
    });
}
