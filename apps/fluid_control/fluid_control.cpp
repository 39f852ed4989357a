// Gradients through a flow find the first velocity that carries dye into a picture.
#include <optional>

#include "apps/common/resample.h"
#include "apps/common/training_run.h"
#include "apps/fluid_control/views.h"

using namespace firn;
using namespace firn::fluid_control;

int main(int argc, char** argv) {
    Settings settings;
    ProblemOptions options;
    std::string dye, target;

    App app({.name = "fluid_control",
             .help = "Gradients through a flow find the initial velocity that carries dye into a "
                     "picture. Shown: the result, the target, that velocity, and the flow.",
             .size = {kWidth, kHeight},
             .headless_frames = 50});
    TrainingRun run(app, {.steps = 1, .report = 5});
    Gui& gui = app.gui();
    const std::string reset = "From the next reset";
    gui.parameter("lr", settings.lr,
                  {.min = 1e-3, .max = 10, .log = true, .help = "learning rate"});
    gui.parameter("smooth", settings.smooth,
                  {.min = 1e-7,
                   .max = 1e-1,
                   .log = true,
                   .help = "weight of the squared velocity in the loss"});
    Param<int> resolution{
        app,
        "resolution",
        64,
        {.min = 16, .max = 256, .group = reset, .help = "side of the grid, in cells"}};
    gui.parameter("flow_steps", options.steps,
                  {.min = 1, .max = 400, .group = reset, .help = "number of steps of the flow"});
    gui.parameter("dt", options.dt,
                  {.min = 0.01, .max = 2, .group = reset, .help = "seconds per step of the flow"});
    gui.parameter(
        "cycles", options.cycles,
        {.min = 1, .max = 4, .group = reset, .help = "multigrid cycles per step of the flow"});
    gui.parameter(
        "coarse", options.coarse,
        {.min = 1, .max = 16, .group = reset, .help = "cells between two learned values"});
    app.option("dye", dye, "PNG or JPEG of the dye at the start");
    app.option("target", target, "PNG or JPEG of the dye at the end");

    return app.run(argc, argv, [&](Window& window) {
        const auto start = [&] {
            const auto dye_of = [&](const std::string& path, const Tensor& other) {
                return path.empty() ? other : resampled(load_image(path), resolution, resolution);
            };
            return make_control(dye_of(dye, disc_of_dye(resolution)),
                                dye_of(target, heart_of_dye(resolution)), options);
        };
        Control control = start();
        ProblemOptions made = options;
        const auto begin = [&] {
            run.begin(window, {control.velocity, control.adam});
            control.iterations = control.adam.steps();
        };
        begin();
        std::optional<Tensor> first;  // distance
        Drawing shown = picture(control, film(control));
        while (window.open()) {
            if (window.reset()) {
                if (made == options && control.start.size(0) == int(resolution))
                    restart(control);
                else
                    control = start();
                made = options;
                begin();
                first.reset();
            }
            if (window.playing()) {
                Tensor distance;
                for (int step = 0; step < run.steps(); ++step)
                    distance = improve(control, settings);
                if (!first) first = distance;
                run.add(window, control.iterations, distance);
                if (run.loaded()) control.iterations = control.adam.steps();
                if (run.reports(window)) {
                    const double now = distance.item<double>(), begun = first->item<double>();
                    run.report(window, {{"distance", now}, {"fell", begun / now}});
                    shown = picture(control, film(control));
                }
            }
            window.show(shown);
        }
    });
}
