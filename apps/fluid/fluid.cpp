// Ink in water: incompressible flow around obstacles, stirred by the mouse.
#include <firn/firn.h>

#include <cstdio>
#include <filesystem>

#include "apps/fluid/simulation.h"
#include "apps/fluid/views.h"

using namespace firn;
using namespace firn::fluid;

namespace {

/// The picture that is used where none is given, beside the sources.
std::string default_picture() {
    return (std::filesystem::path(__FILE__).parent_path() / "../../assets/fluid.png")
        .lexically_normal();
}

/// What the mouse does: the left button pushes along its way, in colours that change as it goes.
Stroke mouse_stroke(const Mouse& mouse, float radius, float push, float ink, int frame,
                    const Settings& settings) {
    if (!mouse.left.down) return {};
    float per_second = push / std::max(settings.dt, 1e-6f);
    return {mouse.i - mouse.di,
            mouse.j - mouse.dj,
            mouse.i,
            mouse.j,
            radius,
            mouse.dj * per_second,
            mouse.di * per_second,
            0.6f,
            ink,
            ink_colour(0.004f * float(frame))};
}

void report(Window& window, const DivergenceStats& stats) {
    char text[96];
    int end = std::snprintf(text, sizeof text, "%.3g before, %.3g after", double(stats.before),
                            double(stats.after));
    if (stats.after > 0.0f)  // at rest there is none
        std::snprintf(text + end, sizeof text - size_t(end), ": 1 / %.0f",
                      double(stats.before / stats.after));
    window.gui().text("divergence (rms)", text);
    std::printf("frame %d: divergence (rms) %s\n", window.frame(), text);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    int view = 0;
    float radius = 25.0f, push = 1.0f, ink = 0.4f;
    bool stats = false, script = false;
    std::string picture = default_picture();

    App app({.name = "fluid",
             .help = "Ink in water around obstacles: drag to push it.",
             .size = {1280, 720},
             .headless_frames = 240});
    Gui& gui = app.gui();
    gui.combo("field", view, view_names(), "what is shown");
    gui.slider("dt", settings.dt, 0.0f, 0.05f, {.help = "time step, seconds"});
    gui.slider("confinement", settings.confinement, 0.0f, 30.0f,
               {.help = "vorticity confinement: keeps whirls alive"});
    gui.slider("velocity_loss", settings.velocity_loss, 0.0f, 0.9f,
               {.help = "share of the velocity lost in a second"});
    gui.slider("dye_loss", settings.dye_loss, 0.0f, 0.9f,
               {.help = "share of the dye lost in a second"});
    gui.slider("cycles", settings.cycles, 0, 8, {.help = "multigrid cycles of the pressure solve"});
    gui.slider("sweeps", settings.sweeps, 1, 8, {.help = "smoothing sweeps of the finest level"});
    gui.slider("radius", radius, 2.0f, 120.0f, {.help = "of the brush, cells"});
    gui.slider("push", push, 0.0f, 4.0f, {.help = "velocity of the brush over that of the mouse"});
    gui.slider("ink", ink, 0.0f, 1.0f, {.help = "how much colour the brush leaves"});
    gui.checkbox("script", script,
                 "drives itself by a stroke that is always the same; headless it always does");
    gui.checkbox("stats", stats, "prints the divergence before and after the projection");
    app.option("picture", picture, "PNG or JPEG whose colours are the dye at the start");

    return app.run(argc, argv, [&](Window& window) {
        Tensor colours = load_image(picture);
        WindowSize size;
        auto start = [&] {
            size = window.size();
            return make_simulation(colours, default_obstacles(size.height, size.width));
        };
        Simulation simulation = start();
        while (window.open()) {
            if (window.reset()) simulation = start();
            bool drive = script || window.options().headless;
            Stroke stroke =
                drive ? scripted_stroke(window.frame(), size.height, size.width, settings)
                      : mouse_stroke(window.mouse(), radius, push, ink, window.frame(), settings);
            if (window.playing()) advance(simulation, settings, stroke);
            show(window, simulation, static_cast<View>(view));
            if (stats) report(window, divergence_stats(simulation));
        }
    });
}
