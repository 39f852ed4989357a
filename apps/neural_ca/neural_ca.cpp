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
    int turn = 0, age = 0;  // age: steps since they were planted
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
    if (speed > 0) watched.cells = grown(training, watched.cells, speed, watched.turn++);
    watched.age += speed;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    ProblemOptions options;
    int resolution = 24, pace = 4, life = 160;
    bool train = true;
    float radius = 5.0f;
    std::string file;

    App app({.name = "neural_ca",
             .help = "Cells learn a rule by which they grow a picture from one of them, and heal "
                     "it: wound them with the left button; the right one plants a new seed.",
             .size = {kWidth, kHeight},
             .headless_frames = 1000});
    TrainingRun run(app, {.steps = 1, .report = 20});
    Gui& gui = app.gui();
    gui.checkbox("train", train, "off: the cells only live, by the rule that they have");
    gui.slider("lr", settings.lr, 1e-5f, 1e-1f, {.help = "learning rate", .logarithmic = true});
    gui.slider("halving", settings.halving, 10, 100000,
               {.help = "steps in which the learning rate halves", .logarithmic = true});
    gui.slider("least", settings.least, 1, 128, {.help = "steps to grow before it is judged"});
    gui.slider("most", settings.most, 1, 128, {.help = "and at most so many"});
    gui.slider("wounded", settings.wounded, 0, 16, {.help = "of a batch are wounded first"});
    gui.slider("pace", pace, 0, 32, {.help = "steps of the watched cells in every frame"});
    gui.slider("life", life, 16, 2000, {.help = "steps until they begin anew while training"});
    gui.slider("radius", radius, 1.0f, 20.0f, {.help = "of the mouse's wounds, cells"});
    gui.heading("from the next reset");
    gui.slider("resolution", resolution, 12, 96, {.help = "rows and columns of cells"});
    gui.slider("hidden", options.hidden, 4, 256, {.help = "units of the rule"});
    gui.slider("batch", options.batch, 1, 32, {.help = "patterns a step"});
    gui.slider("pool", options.pool, 1, 1024, {.help = "patterns that training goes on from"});
    app.option("picture", file, "PNG or JPEG to grow; what is white is empty");

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
        while (window.open()) {
            if (window.reset()) {
                if (made == options && training.target.size(0) == resolution)
                    restart(training, app.seed());
                else
                    training = start();
                made = options;
                watched = {planted(training)};
                begin();
            }
            // Training waits while somebody wounds, so that the cells follow the mouse.
            const Mouse& mouse = window.mouse();
            if (window.playing() && train && !mouse.left.down) {
                Tensor loss;
                for (int step = 0; step < run.steps(); ++step) loss = advance(training, settings);
                run.add(window, training.steps, loss.item<float>());
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
