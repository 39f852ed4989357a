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
    std::string picture = default_picture();

    App app({.name = "train_image",
             .help = "A network learns a picture, and shows its progress.",
             .size = {768, 768},
             .headless_frames = 400});
    TrainingRun run(app);
    Gui& gui = app.gui();
    const std::string reset = "From the next reset";
    Param<OneOf> view{
        app, "view", 0, {"learned", "target", "difference"}, {.help = "picture that is shown"}};
    gui.parameter("lr", settings.lr,
                  {.min = 1e-5, .max = 1e-1, .log = true, .help = "learning rate"});
    gui.parameter("batch", settings.batch,
                  {.min = 64, .max = 65536, .log = true, .help = "pixels per training step"});
    gui.parameter("averaged", settings.averaged,
                  {.min = 0,
                   .max = 0.9999,
                   .help = "decay of the running mean of the weights, which is shown"});
    Param<int> redraw{
        app,
        "redraw",
        4,
        {.min = 1,
         .max = 100,
         .help = "frames between two pictures of the result, each as slow as some steps"}};
    Param<int> resolution{app,
                          "resolution",
                          256,
                          {.min = 16,
                           .max = 1024,
                           .group = reset,
                           .help = "height of the picture to learn, in pixels"}};
    gui.parameter("features", options.features,
                  {.min = 1, .max = 512, .group = reset, .help = "number of Fourier frequencies"});
    gui.parameter("width", options.width,
                  {.min = 4, .max = 512, .group = reset, .help = "units of each hidden layer"});
    gui.parameter("depth", options.depth,
                  {.min = 1, .max = 8, .group = reset, .help = "number of hidden layers"});
    gui.parameter("detail", options.detail,
                  {.min = 0.5,
                   .max = 50,
                   .group = reset,
                   .help = "standard deviation of the Fourier frequencies"});
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
                if (made == options && training.target.size(0) == int(resolution))
                    restart(training, app.seed());
                else
                    training = start();
                made = options;
                begin();
            }
            if (window.playing()) {
                Tensor loss;
                for (int step = 0; step < run.steps(); ++step) loss = advance(training, settings);
                run.add(window, training.steps, loss);
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
