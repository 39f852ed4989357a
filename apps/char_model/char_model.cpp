// A small transformer learns to write as a text is written.
#include <cstdio>
#include <filesystem>

#include "apps/char_model/views.h"
#include "apps/common/training_run.h"

using namespace firn;
using namespace firn::char_model;

namespace {

constexpr size_t kSamples = 12;  // that are kept; as many are shown as fit the page

/// The text that is used where none is given: the page about the compiler.
std::string default_text() {
    return (std::filesystem::path(__FILE__).parent_path() / "../../compiler/README.md")
        .lexically_normal();
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    ModelOptions options;
    std::string file = default_text();

    App app({.name = "char_model",
             .help = "A transformer learns a text character by character, and continues a prompt "
                     "(grey); greener characters are more certain.",
             .size = {kWidth, kHeight},
             .headless_frames = 1000});
    TrainingRun run(app, {.steps = 1, .report = 100});
    Gui& gui = app.gui();
    const std::string reset = "From the next reset";
    gui.parameter("lr", settings.lr,
                  {.min = 1e-5, .max = 1e-1, .log = true, .help = "learning rate"});
    gui.parameter("batch", settings.batch,
                  {.min = 1, .max = 256, .log = true, .help = "pieces of text per training step"});
    gui.parameter("decay", settings.decay, {.min = 0, .max = 0.5, .help = "weight decay"});
    Param<float> temperature{app,
                             "temperature",
                             0.7f,
                             {.min = 0.01,
                              .max = 2,
                              .help = "sampling temperature: higher values give more varied text"}};
    Param<int> length{
        app, "length", 400, {.min = 10, .max = 1500, .help = "number of characters to generate"}};
    Param<std::string> prompt{app, "prompt", "", {.help = "text to continue"}};
    gui.parameter("context", options.context,
                  {.min = 8, .max = 256, .group = reset, .help = "context length in characters"});
    gui.parameter("width", options.width,
                  {.min = 8, .max = 256, .group = reset, .help = "embedding size"});
    gui.parameter("layers", options.layers,
                  {.min = 1, .max = 8, .group = reset, .help = "number of layers"});
    gui.parameter("heads", options.heads,
                  {.min = 1,
                   .max = 16,
                   .group = reset,
                   .help = "number of attention heads; must divide the width"});
    app.option("text", file, "text file to learn");

    return app.run(argc, argv, [&](Window& window) {
        const auto start = [&] {
            return make_training(read_text(file, options.context), options, app.seed());
        };
        Training training = start();
        ModelOptions made = options;
        const auto begin = [&] {
            run.begin(window, {training.model, training.adam});
            training.steps = training.adam.steps();
        };
        begin();
        int draw = 0;
        std::vector<Sample> samples;  // the newest first
        Tensor shown = page(samples);
        while (window.open()) {
            if (window.reset()) {
                if (made == options)
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
                if (run.loaded()) training.steps = training.adam.steps();
            }
            const bool reports = window.playing() && run.reports(window);
            if (reports) run.report(window, {{"test loss", double(test_loss(training))}});
            if (window.gui().button("generate") || reports) {
                samples.insert(samples.begin(),
                               written(training, prompt, length, temperature, draw++));
                if (samples.size() > kSamples) samples.pop_back();
                std::printf("%s\n\n", samples[0].text.c_str() + samples[0].given);
                shown = page(samples);
            }
            window.show(shown);
        }
    });
}
