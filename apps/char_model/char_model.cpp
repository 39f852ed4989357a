// A small transformer learns to write as a text is written.
#include <cstdio>
#include <filesystem>

#include "apps/char_model/views.h"
#include "apps/common/training_run.h"

using namespace firn;
using namespace firn::char_model;

namespace {

constexpr size_t kSamples = 12;  // that are kept; as many are shown as fit the page

/// The text that is used where none is given: what this is about.
std::string default_text() {
    return (std::filesystem::path(__FILE__).parent_path() / "../../README.md").lexically_normal();
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    ModelOptions options;
    int length = 400;
    float temperature = 0.7f;
    std::string file = default_text(), prompt;

    App app({.name = "char_model",
             .help = "A transformer learns a text character by character, and writes on: green is "
                     "what it is sure of, grey what it was given.",
             .size = {kWidth, kHeight},
             .headless_frames = 1000});
    TrainingRun run(app, {.steps = 1, .report = 100});
    Gui& gui = app.gui();
    gui.slider("lr", settings.lr, 1e-5f, 1e-1f, {.help = "learning rate", .logarithmic = true});
    gui.slider("batch", settings.batch, 1, 256,
               {.help = "pieces of text a step", .logarithmic = true});
    gui.slider("decay", settings.decay, 0.0f, 0.5f, {.help = "of the weights"});
    gui.slider("temperature", temperature, 0.01f, 2.0f, {.help = "how daring it writes"});
    gui.slider("length", length, 10, 1500, {.help = "characters that it writes"});
    gui.input("prompt", prompt, "what it is to go on from");
    gui.heading("from the next reset");
    gui.slider("context", options.context, 8, 256, {.help = "characters that it sees"});
    gui.slider("width", options.width, 8, 256, {.help = "numbers of a character"});
    gui.slider("layers", options.layers, 1, 8);
    gui.slider("heads", options.heads, 1, 16, {.help = "must divide the width"});
    app.option("text", file, "any file to learn");

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
        int turn = 0;
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
                run.add(window, training.steps, loss.item<float>());
                if (run.loaded()) training.steps = training.adam.steps();
            }
            const bool reports = window.playing() && run.reports(window);
            if (reports) run.report(window, {{"test loss", double(test_loss(training))}});
            if (window.gui().button("write") || reports) {
                samples.insert(samples.begin(),
                               written(training, prompt, length, temperature, turn++));
                if (samples.size() > kSamples) samples.pop_back();
                std::printf("%s\n\n", samples[0].text.c_str() + samples[0].given);
                shown = page(samples);
            }
            window.show(shown);
        }
    });
}
