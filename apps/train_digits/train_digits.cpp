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

    App app({.name = "train_digits",
             .help = "A network learns to read digits: draw one, and see how it is classified (the "
                     "right button clears).",
             .size = {kWidth, kHeight},
             .headless_frames = 200});
    TrainingRun run(app, {.steps = 1, .report = 50});
    Gui& gui = app.gui();
    gui.parameter("lr", settings.lr,
                  {.min = 1e-5, .max = 1e-1, .log = true, .help = "learning rate"});
    gui.parameter("batch", settings.batch,
                  {.min = 8, .max = 1024, .log = true, .help = "pictures per training step"});
    gui.parameter("decay", settings.decay, {.min = 0, .max = 0.5, .help = "weight decay"});
    gui.parameter("averaged", settings.averaged,
                  {.min = 0, .max = 0.999, .help = "decay of the running mean of the weights"});
    gui.parameter(
        "turn", settings.turn,
        {.min = 0, .max = 0.5, .help = "maximum rotation of training pictures, in radians"});
    gui.parameter("shift", settings.shift,
                  {.min = 0, .max = 4, .help = "maximum shift of training pictures, in pixels"});
    Param<int> redraw{app,
                      "redraw",
                      2,
                      {.min = 1, .max = 100, .help = "frames between two updates of the pictures"}};
    Param<int> samples{
        app,
        "samples",
        12000,
        {.min = 1, .max = 100000, .log = true, .help = "number of generated training pictures"}};
    app.option("data", folder, "folder with the four IDX files of MNIST, unpacked");
    app.option("write-data", written, "folder to save the digits to, as IDX files");

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
        Drawing shown;
        window.menu_by_right_click(false);
        while (window.open()) {
            if (window.reset()) {
                restart(training, settings, app.seed());
                begin();
                views.test = judged(training);
            }
            // Training waits while a person draws, so that the ink follows the mouse.
            bool changed = draw_by_mouse(window.mouse(), views) || window.frame() == 0;
            if (window.playing() && !window.mouse().left.down) {
                Tensor loss;
                for (int step = 0; step < run.steps(); ++step) loss = advance(training, settings);
                run.add(window, training.steps, loss);
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
                window.histogram("weights", training.network.hidden.weight.value(),
                                 {.bins = 48, .help = "weights of the hidden layer"});
                window.heat_map("read as", views.test.confusion,
                                {.help = "confusion matrix: true digits (rows) by predicted "
                                         "digits (columns)"});
            }
            window.show(shown);
        }
    });
}
