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

/// Where every body has a lane of its own, more of them are as fast.
int default_bodies() {
    bool cpu = current_session().executor().profile().device_class == DeviceClass::Cpu;
    return cpu ? 2048 : 16384;
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
    int steps = 4, every = 25, colours = 0, bodies = 0;
    float spin = 0.0f;

    App app({.name = "n_body",
             .help = "Galaxies that collide: drag to look around, the wheel comes closer.",
             .size = {1280, 720},
             .headless_frames = 110});
    Gui& gui = app.gui();
    gui.slider("dt", settings.dt, 0.0f, 0.03f, {.help = "time step; a galaxy turns in about 4"});
    gui.slider("softening", settings.softening, 0.01f, 0.3f,
               {.help = "how close bodies may come before they pass through each other"});
    gui.slider("steps", steps, 1, 16, {.help = "in every frame"});
    gui.combo("colours", colours, colour_names(), "by galaxy, or by speed");
    gui.slider("size", look.size, 0.3f, 4.0f, {.help = "of a body"});
    gui.slider("trail", look.trail, 0.0f, 0.98f, {.help = "light that stays until the next frame"});
    gui.slider("glow", look.glow, 0.0f, 0.9f, {.help = "light that is spread"});
    gui.slider("exposure", look.exposure, 0.05f, 20.0f, {.logarithmic = true});
    gui.slider("turn", camera.turn, -3.15f, 3.15f, {.help = "of the camera: drag the picture"});
    gui.slider("tilt", camera.tilt, -1.57f, 1.57f, {.help = "of the camera: drag the picture"});
    gui.slider("distance", camera.distance, 0.5f, 40.0f,
               {.help = "of the camera: the wheel", .logarithmic = true});
    gui.slider("spin", spin, -1.0f, 1.0f, {.help = "how fast the camera goes round"});
    gui.slider("bodies", bodies, 0, kMostBodies,
               {.help = "all pull all; 0: 2048 on a CPU, 16384 on a GPU", .logarithmic = true});
    gui.slider("report", every, 1, 100, {.help = "frames between measures of the energy"});

    return app.run(argc, argv, [&](Window& window) {
        WindowSize size = window.pixels();
        Painter painter = make_painter(size.height, size.width);
        auto start = [&] {
            bodies = bodies == 0 ? default_bodies() : std::max(bodies, kLeastBodies);
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
            look.colours = static_cast<Colours>(colours);
            look.shutter = float(steps) * settings.dt;
            draw(painter, simulation.bodies, camera, look);
            window.show(picture(painter, look));
            if (now > 0 && window.frame() % every == 0)
                report(window, energy_now(simulation, settings), first, done);
        }
    });
}
