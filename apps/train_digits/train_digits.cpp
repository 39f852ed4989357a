// A small convolutional network learns to read digits, and says what it takes yours for.
#include "apps/common/training_run.h"
#include "apps/train_digits/views.h"

using namespace firn;
using namespace firn::train_digits;

namespace {

/// Draws on the pad as the mouse goes, and clears it by the right button. True where it changed.
bool draw_by_mouse(const Mouse& mouse, Views& views) {
    const float i = (mouse.i - kPad.row) / kPad.scale, j = (mouse.j - kPad.column) / kPad.scale;
    const bool over = mouse.inside && i >= 0 && i < kSide && j >= 0 && j < kSide;
    if (over && mouse.right.pressed) {
        views.pad = zeros({kSide, kSide});
        return true;
    }
    if (!over || !mouse.left.down) return false;
    const bool begins = mouse.left.pressed;
    views.pad = with_stroke(views.pad, begins ? i : i - mouse.di / kPad.scale,
                            begins ? j : j - mouse.dj / kPad.scale, i, j);
    return true;
}

DigitData data_of(const std::string& folder, int samples, uint32_t seed) {
    if (!folder.empty()) return load_digits(folder);
    return {drawn_digits(samples, seed), drawn_digits(2000, ~seed)};
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    std::string folder, written;
    int samples = 12000, redraw = 2;

    App app({.name = "train_digits",
             .help = "A network learns to read digits: draw one (the right button clears), and see "
                     "what it takes it for.",
             .size = {kWidth, kHeight},
             .headless_frames = 200});
    TrainingRun run(app, {.steps = 1, .report = 50});
    Gui& gui = app.gui();
    gui.slider("lr", settings.lr, 1e-5f, 1e-1f, {.help = "learning rate", .logarithmic = true});
    gui.slider("batch", settings.batch, 8, 1024, {.help = "pictures a step", .logarithmic = true});
    gui.slider("decay", settings.decay, 0.0f, 0.5f, {.help = "of the weights"});
    gui.slider("averaged", settings.averaged, 0.0f, 0.999f,
               {.help = "share of the mean of the weights that stays from step to step"});
    gui.slider("turn", settings.turn, 0.0f, 0.5f, {.help = "pictures turn by at most, radians"});
    gui.slider("shift", settings.shift, 0.0f, 4.0f, {.help = "and are shifted by, pixels"});
    gui.slider("redraw", redraw, 1, 100, {.help = "frames between pictures"});
    gui.slider("samples", samples, 1, 100000,
               {.help = "pictures that are made for training", .logarithmic = true});
    app.option("data", folder, "folder with the four IDX files of MNIST, unpacked");
    app.option("write-data", written, "folder to write the digits to, as such files");

    return app.run(argc, argv, [&](Window& window) {
        const DigitData data = data_of(folder, samples, app.seed());
        if (!written.empty()) save_digits(written, data);
        Training training = make_training(data, settings, app.seed());
        const auto begin = [&] {
            run.begin(window, {training.network, training.adam, training.mean});
            training.steps = training.adam.steps();
            training.batches.seek(training.steps);
        };
        begin();
        Views views;
        views.pad = data.test.images(0).as(f32) / 255.0f;
        views.test = judged(training);
        Tensor shown;
        while (window.open()) {
            if (window.reset()) {
                restart(training, settings, app.seed());
                begin();
                views.test = judged(training);
            }
            // Training waits while somebody draws, so that the ink follows the mouse.
            bool changed = draw_by_mouse(window.mouse(), views) || window.frame() == 0;
            if (window.playing() && !window.mouse().left.down) {
                Tensor loss;
                for (int step = 0; step < run.steps(); ++step) loss = advance(training, settings);
                run.add(window, training.steps, loss.item<float>());
                if (run.loaded()) training.steps = training.adam.steps();
                if (run.reports(window)) {
                    views.test = judged(training);
                    run.report(window, {{"accuracy", double(views.test.accuracy)}});
                    changed = true;
                }
                changed |= !window.options().headless && window.frame() % redraw == 0;
            }
            if (changed) {
                views.read = read_digit(training, views.pad);
                shown = picture(training, views);
            }
            window.show(shown);
        }
    });
}
