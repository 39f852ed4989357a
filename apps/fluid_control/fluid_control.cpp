// Gradients through a flow find the first velocity that carries dye into a picture.
#include "apps/common/resample.h"
#include "apps/common/training_run.h"
#include "apps/fluid_control/views.h"

using namespace firn;
using namespace firn::fluid_control;

int main(int argc, char** argv) {
    Settings settings;
    ProblemOptions options;
    int resolution = 64;
    std::string dye, target;

    App app({.name = "fluid_control",
             .help = "Gradients through a flow find the first velocity that carries dye into a "
                     "picture: as it arrives, the picture, that velocity, and the way.",
             .size = {kWidth, kHeight},
             .headless_frames = 50});
    TrainingRun run(app, {.steps = 1, .report = 5});
    Gui& gui = app.gui();
    gui.slider("lr", settings.lr, 1e-3f, 10.0f, {.help = "learning rate", .logarithmic = true});
    gui.slider("smooth", settings.smooth, 1e-7f, 1e-1f,
               {.help = "weight of the velocity's squares in the loss", .logarithmic = true});
    gui.heading("from the next reset");
    gui.slider("resolution", resolution, 16, 256, {.help = "rows and columns of cells"});
    gui.slider("flow_steps", options.steps, 1, 400, {.help = "steps of the flow"});
    gui.slider("dt", options.dt, 0.01f, 2.0f, {.help = "seconds of each"});
    gui.slider("cycles", options.cycles, 1, 4, {.help = "multigrid cycles of each"});
    gui.slider("coarse", options.coarse, 1, 16,
               {.help = "cells between the numbers that are learned"});
    app.option("dye", dye, "PNG or JPEG of the dye at the start");
    app.option("target", target, "PNG or JPEG that it is to become");

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
        float first = 0;
        Tensor shown = picture(control, film(control));
        while (window.open()) {
            if (window.reset()) {
                if (made == options && control.start.size(0) == resolution)
                    restart(control);
                else
                    control = start();
                made = options;
                begin();
                first = 0;
            }
            if (window.playing()) {
                Tensor distance;
                for (int step = 0; step < run.steps(); ++step)
                    distance = improve(control, settings);
                const auto loss = distance.item<float>();
                if (first == 0) first = loss;
                run.add(window, control.iterations, loss);
                if (run.loaded()) control.iterations = control.adam.steps();
                if (run.reports(window)) {
                    run.report(window,
                               {{"distance", double(loss)}, {"fell", double(first / loss)}});
                    shown = picture(control, film(control));
                }
            }
            window.show(shown);
        }
    });
}
