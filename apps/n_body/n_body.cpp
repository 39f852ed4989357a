// Galaxies that collide: gravity between all pairs of bodies, drawn as light.
#include <firn/firn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "apps/n_body/picture.h"
#include "apps/n_body/simulation.h"
#include "compiler/program/executor.h"

using namespace firn;
using namespace firn::n_body;

namespace {

constexpr int kLeastBodies = 64, kMostBodies = 32768;

/// Returns the default number of bodies: as long as every body has a lane of its own, more of them
/// take no longer.
int default_bodies() {
    constexpr int kFew = 2048, kMany = 16384;
    return current_session().executor().profile().parallel_invocations < kMany ? kFew : kMany;
}

/// The energy now, and how far it is from that of the start, shown and printed.
void report(Window& window, const EnergyNow& now, const EnergyNow& start, int steps) {
    double drift = (now.total() - start.total()) / std::abs(start.total());
    window.gui().plot("energy drift", float(drift));
    char text[96];
    std::snprintf(text, sizeof text, "%.6f", now.total());
    window.gui().text("energy", text);
    std::printf("step %d: kinetic %.6f, potential %.6f, energy %.6f, drift %.2e\n", steps,
                now.kinetic, now.potential, now.total(), drift);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    Camera camera;
    Look look;

    App app({.name = "n_body",
             .help = "Galaxies that collide: drag: rotate the camera, wheel: zoom.",
             .size = {1280, 720},
             .headless_frames = 110});
    Gui& gui = app.gui();
    const std::string motion = "Motion", look_of = "Look", eye = "Camera";
    gui.parameter(
        "dt", settings.dt,
        {.min = 0, .max = 0.03, .group = motion, .help = "time step; a galaxy rotates in about 4"});
    gui.parameter("softening", settings.softening,
                  {.min = 0.01,
                   .max = 0.3,
                   .group = motion,
                   .help = "softening length of the force between close bodies"});
    Param<int> steps{app,
                     "steps",
                     4,
                     {.min = 1, .max = 16, .group = motion, .help = "simulation steps per frame"}};
    Param<int> bodies{app,
                      "bodies",
                      0,
                      {.min = 0,
                       .max = kMostBodies,
                       .log = true,
                       .group = motion,
                       .help = "number of bodies; 0: 2048 on a CPU, 16384 on a GPU"}};
    Param<Colours> colours{app,
                           "colours",
                           Colours::Galaxy,
                           colour_names(),
                           {.group = look_of, .help = "colour by galaxy or by speed"}};
    gui.parameter("size", look.size,
                  {.min = 0.3, .max = 4, .group = look_of, .help = "size of a body"});
    gui.parameter("trail", look.trail,
                  {.min = 0,
                   .max = 0.98,
                   .group = look_of,
                   .help = "share of the light that stays until the next frame"});
    gui.parameter("glow", look.glow,
                  {.min = 0,
                   .max = 0.9,
                   .group = look_of,
                   .help = "share of the light that is spread to neighbours"});
    gui.parameter("exposure", look.exposure,
                  {.min = 0.05, .max = 20, .log = true, .group = look_of});
    gui.angle(
        "turn", camera.turn,
        {.min = -3.15, .max = 3.15, .group = eye, .help = "camera's heading; dragging changes it"});
    gui.angle("tilt", camera.tilt,
              {.min = -1.57,
               .max = 1.57,
               .group = eye,
               .help = "camera's elevation; dragging changes it"});
    gui.parameter("distance", camera.distance,
                  {.min = 0.5,
                   .max = 40,
                   .log = true,
                   .group = eye,
                   .help = "camera's distance; the wheel changes it"});
    Param<float> spin{
        app,
        "spin",
        0.0f,
        {.min = -1, .max = 1, .group = eye, .help = "speed at which the camera circles"}};
    Param<int> every{
        app,
        "report",
        25,
        {.min = 1, .max = 100, .help = "frames between two measurements of the energy"}};

    return app.run(argc, argv, [&](Window& window) {
        WindowSize size = window.pixels();
        Painter painter = make_painter(size.height, size.width);
        auto start = [&] {
            bodies = bodies == 0 ? default_bodies() : std::max(int(bodies), kLeastBodies);
            return colliding_galaxies(bodies, app.seed());
        };
        Simulation simulation = make_simulation(start(), settings);
        EnergyNow first = energy_now(simulation, settings);
        int done = 0;
        while (window.open()) {
            if (window.reset() || bodies != int(simulation.bodies.mass.size(0))) {
                restart(simulation, start(), settings);
                first = energy_now(simulation, settings);
                clear(painter, size.height, size.width);
                done = 0;
            }
            const int now = window.playing() ? steps : 0;
            if (size != window.pixels()) {
                size = window.pixels();
                clear(painter, size.height, size.width);
            }
            for (int step = 0; step < now; ++step) advance(simulation, settings);
            done += now;
            move(camera, window.mouse());
            if (now > 0) camera.turn = std::remainder(camera.turn + 0.02f * spin, 2 * 3.14159265f);
            look.colours = colours;
            look.shutter = float(steps) * settings.dt;
            draw(painter, simulation.bodies, camera, look);
            window.show(picture(painter, look));
            if (now > 0 && window.frame() % every == 0)
                report(window, energy_now(simulation, settings), first, done);
        }
    });
}
