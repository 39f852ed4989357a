// A network learns a picture while one watches.
#include <algorithm>
#include <filesystem>

#include "apps/common/resample.h"
#include "apps/common/training_run.h"
#include "apps/train_image/training.h"

using namespace firn;
using namespace firn::train_image;

namespace {

/// The picture that is used where none is given, beside the sources.
std::string default_picture() {
    return (std::filesystem::path(__FILE__).parent_path() / "../../assets/fluid.png")
        .lexically_normal();
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    NetworkOptions options;
    int view = 0, redraw = 4, resolution = 256;
    std::string picture = default_picture();

    App app({.name = "train_image",
             .help = "A network learns a picture: what it has learned, while it learns.",
             .size = {768, 768},
             .headless_frames = 400});
    TrainingRun run(app);
    Gui& gui = app.gui();
    gui.combo("view", view, {"learned", "target", "difference"}, "what is shown");
    gui.slider("lr", settings.lr, 1e-5f, 1e-1f, {.help = "learning rate", .logarithmic = true});
    gui.slider("batch", settings.batch, 64, 65536, {.help = "pixels a step", .logarithmic = true});
    gui.slider(
        "averaged", settings.averaged, 0.0f, 0.9999f,
        {.help = "share of the mean of the weights that stays from step to step: it is shown"});
    gui.slider(
        "redraw", redraw, 1, 100,
        {.help = "frames between pictures of what is learned: one costs as much as some steps"});
    gui.heading("from the next reset");
    gui.slider("resolution", resolution, 16, 1024, {.help = "rows of pixels that are learned"});
    gui.slider("features", options.features, 1, 512, {.help = "frequencies"});
    gui.slider("width", options.width, 4, 512, {.help = "of the hidden layers"});
    gui.slider("depth", options.depth, 1, 8, {.help = "hidden layers"});
    gui.slider("detail", options.detail, 0.5f, 50.0f, {.help = "deviation of the frequencies"});
    app.option("picture", picture, "PNG or JPEG to learn");

    return app.run(argc, argv, [&](Window& window) {
        auto [width, height] = window.size();
        const Tensor whole = load_image(picture);
        const auto start = [&, width = width, height = height] {
            const int columns = std::max(1, resolution * width / height);
            return make_training(resampled(whole, resolution, columns), options, app.seed());
        };
        NetworkOptions made = options;
        Training training = start();
        const auto begin = [&] {
            run.begin(window, {training.network, training.adam, training.mean});
            training.steps = int(training.adam.steps());
        };
        begin();
        Tensor learned = training.target * 0.0f;
        while (window.open()) {
            if (window.reset()) {
                if (made == options && training.target.size(0) == resolution)
                    restart(training, app.seed());
                else
                    training = start();
                made = options;
                begin();
            }
            if (window.playing()) {
                Tensor loss;
                for (int step = 0; step < run.steps(); ++step) loss = advance(training, settings);
                run.add(window, training.steps, loss.item<float>());
                if (run.loaded()) training.steps = int(training.adam.steps());
            }
            const bool reports = window.playing() && run.reports(window);
            const bool draws =
                window.playing() && !window.options().headless && window.frame() % redraw == 0;
            if (draws || reports) learned = learned_picture(training);
            if (reports)
                run.report(window, {{"decibels", double(decibels(learned, training.target))}});
            window.show(view == 0   ? learned
                        : view == 1 ? training.target
                                    : abs(learned - training.target));
        }
    });
}
