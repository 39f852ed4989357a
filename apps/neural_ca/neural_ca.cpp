// Cells learn a rule by which they grow a picture from one of them, and heal it: wound them.
#include "apps/common/resample.h"
#include "apps/common/training_run.h"
#include "apps/neural_ca/views.h"

using namespace firn;
using namespace firn::neural_ca;

namespace {

constexpr int kShownSteps = 96;  // of the picture that a headless run ends with

/// The cells that one watches, and wounds.
struct Watched {
    Tensor cells;
    int draw = 0, age = 0;  // age: steps since they were planted
};

Tensor planted(const Training& training) {
    const Size n = training.target.size(0), m = training.target.size(1);
    return reshape(seed_cells(1, n, m), {n, m, kChannels});
}

/// Some steps; what is older than `life` begins anew, if that is not 0.
void live(Watched& watched, const Training& training, const Mouse& mouse, float radius, int speed,
          int life) {
    const Spot spot = cells_spot(training.target.size(0).constant());
    if (mouse.right.pressed || (life > 0 && watched.age >= life)) watched = {planted(training)};
    if (mouse.left.down && mouse.inside) {
        const float i = (mouse.i - float(spot.row)) / float(spot.scale),
                    j = (mouse.j - float(spot.column)) / float(spot.scale);
        watched.cells =
            reshape(wounded(unsqueeze(watched.cells, 0), i, j, radius), watched.cells.shape());
        watched.age = 0;
    }
    if (speed > 0) watched.cells = grown(training, watched.cells, speed, watched.draw++);
    watched.age += speed;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    ProblemOptions options;
    std::string file;

    App app({.name = "neural_ca",
             .help =
                 "Cells learn a rule by which they grow a picture from a single cell and repair "
                 "it: the left button erases cells, the right one plants a seed.",
             .size = {kWidth, kHeight},
             .headless_frames = 1000});
    TrainingRun run(app, {.steps = 1, .report = 20});
    Gui& gui = app.gui();
    const std::string reset = "From the next reset";
    Param<bool> train{app, "train", true, {.help = "train the rule (off: only run it)"}};
    gui.parameter("lr", settings.lr,
                  {.min = 1e-5, .max = 1e-1, .log = true, .help = "learning rate"});
    gui.parameter("halving", settings.halving,
                  {.min = 10,
                   .max = 100000,
                   .log = true,
                   .help = "training steps in which the learning rate halves"});
    gui.parameter(
        "least", settings.least,
        {.min = 1, .max = 128, .help = "minimum steps of growth before the loss is taken"});
    gui.parameter(
        "most", settings.most,
        {.min = 1, .max = 128, .help = "maximum steps of growth before the loss is taken"});
    gui.parameter("wounded", settings.wounded,
                  {.min = 0, .max = 16, .help = "patterns of each batch that are damaged first"});
    Param<int> pace{
        app, "pace", 4, {.min = 0, .max = 32, .help = "steps of the displayed cells per frame"}};
    Param<int> life{app,
                    "life",
                    160,
                    {.min = 16,
                     .max = 2000,
                     .help = "steps after which the displayed cells restart while training"}};
    Param<float> radius{app,
                        "radius",
                        5.0f,
                        {.min = 1, .max = 20, .help = "radius of the mouse's eraser, in cells"}};
    Param<int> resolution{
        app,
        "resolution",
        24,
        {.min = 12, .max = 96, .group = reset, .help = "side of the grid, in cells"}};
    gui.parameter(
        "hidden", options.hidden,
        {.min = 4, .max = 256, .group = reset, .help = "hidden units of the rule's network"});
    gui.parameter("batch", options.batch,
                  {.min = 1, .max = 32, .group = reset, .help = "patterns per training step"});
    gui.parameter("pool", options.pool,
                  {.min = 1,
                   .max = 1024,
                   .group = reset,
                   .help = "size of the pool of patterns that training continues from"});
    app.option("picture", file, "PNG or JPEG to grow; white is empty");

    return app.run(argc, argv, [&](Window& window) {
        const auto start = [&] {
            return make_training(
                file.empty() ? toadstool(resolution) : target_of(load_image(file), resolution),
                options, app.seed());
        };
        Training training = start();
        ProblemOptions made = options;
        Watched watched{planted(training)};
        const auto begin = [&] {
            run.begin(window, {training.rule, training.adam, training.pool});
            training.steps = training.adam.steps();
            training.batches.seek(training.steps);
        };
        begin();
        window.menu_by_right_click(false);
        while (window.open()) {
            if (window.reset()) {
                if (made == options && training.target.size(0) == int(resolution))
                    restart(training, app.seed());
                else
                    training = start();
                made = options;
                watched = {planted(training)};
                begin();
            }
            // Training waits while a person wounds cells, so that the cells follow the mouse.
            const Mouse& mouse = window.mouse();
            if (window.playing() && train && !mouse.left.down) {
                Tensor loss;
                for (int step = 0; step < run.steps(); ++step) loss = advance(training, settings);
                run.add(window, training.steps, loss);
                if (run.loaded()) training.steps = training.adam.steps();
                if (run.reports(window)) run.report(window, {});
            }
            if (window.options().headless) {
                // The end of a run is what its rule grows from a seed.
                if (window.frame() + 1 == window.options().frames)
                    watched.cells = grown(training, planted(training), kShownSteps, 0);
            } else {
                live(watched, training, mouse, radius, window.playing() ? pace : 0,
                     train ? life : 0);
            }
            window.show(picture(training, watched.cells));
        }
    });
}
