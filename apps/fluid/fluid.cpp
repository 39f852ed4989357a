// Ink in water: incompressible flow around obstacles, stirred by the mouse.
#include <firn/firn.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "apps/fluid/simulation.h"
#include "apps/fluid/views.h"
#include "compiler/base/error.h"

using namespace firn;
using namespace firn::fluid;

namespace {

/// The picture that is used where none is given, beside the sources.
std::string default_picture() {
    return (std::filesystem::path(__FILE__).parent_path() / "../../assets/fluid.png")
        .lexically_normal();
}

/// Returns the stroke of the mouse: the left button pushes along its path, in colours that change
/// as it moves.
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
    int end = std::snprintf(text, sizeof text, "%.3g before, %.3g after",
                            std::abs(double(stats.before)), std::abs(double(stats.after)));
    if (stats.after > 0.0f)  // at rest there is none
        std::snprintf(text + end, sizeof text - size_t(end), ": 1 / %.0f",
                      double(stats.before / stats.after));
    window.gui().text("divergence (rms)", text);
    std::printf("frame %d: divergence (rms) %s\n", window.frame(), text);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    App app({.name = "fluid",
             .help = "Ink in water around obstacles: drag to push it.",
             .size = {1280, 720},
             .headless_frames = 240});
    Param<View> view{app, "field", View::Dye, view_names(), {.help = "field that is shown"}};
    Gui& gui = app.gui();
    const std::string water = "Water", brush = "Brush";
    gui.parameter("dt", settings.dt,
                  {.min = 0, .max = 0.05, .unit = "s", .group = water, .help = "time step"});
    gui.parameter("confinement", settings.confinement,
                  {.min = 0,
                   .max = 30,
                   .group = water,
                   .help = "vorticity confinement: keeps vortices alive"});
    gui.parameter("velocity_loss", settings.velocity_loss,
                  {.min = 0,
                   .max = 0.9,
                   .label = "velocity loss",
                   .group = water,
                   .help = "share of the velocity that is lost per second"});
    gui.parameter("dye_loss", settings.dye_loss,
                  {.min = 0,
                   .max = 0.9,
                   .label = "dye loss",
                   .group = water,
                   .help = "share of the dye that is lost per second"});
    gui.parameter(
        "cycles", settings.cycles,
        {.min = 0, .max = 8, .group = water, .help = "multigrid cycles of the pressure solve"});
    gui.parameter(
        "sweeps", settings.sweeps,
        {.min = 1, .max = 8, .group = water, .help = "smoothing sweeps of the finest level"});
    Param<float> radius{
        app, "radius", 25.0f, {.min = 2, .max = 120, .unit = "cells", .group = brush}};
    Param<float> push{app,
                      "push",
                      1.0f,
                      {.min = 0,
                       .max = 4,
                       .group = brush,
                       .help = "velocity of the brush relative to the mouse"}};
    Param<float> ink{
        app,
        "ink",
        0.4f,
        {.min = 0, .max = 1, .group = brush, .help = "amount of dye that the brush adds"}};
    Param<bool> script{
        app, "script", false, {.help = "plays a fixed brush stroke, as headless runs always do"}};
    Param<bool> stats{
        app, "stats", false, {.help = "print the divergence before and after the projection"}};
    Param<File> picture{app,
                        "picture",
                        default_picture(),
                        {.help = "PNG or JPEG whose colours are the dye from the next reset"}};

    return app.run(argc, argv, [&](Window& window) {
        WindowSize size;
        auto start = [&] {
            size = window.size();
            return make_simulation(load_image(picture), default_obstacles(size.height, size.width));
        };
        Simulation simulation = start();
        while (window.open()) {
            if (window.reset()) try {
                    simulation = start();
                } catch (const UserError& error) {  // the picture is none
                    window.say(error.what());
                }
            bool drive = script || window.options().headless;
            Stroke stroke =
                drive ? scripted_stroke(window.frame(), size.height, size.width, settings)
                      : mouse_stroke(window.mouse(), radius, push, ink, window.frame(), settings);
            if (window.playing()) advance(simulation, settings, stroke);
            show(window, simulation, view);
            if (stats) report(window, divergence_stats(simulation));
        }
    });
}
