// A network learns a picture while one watches.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "apps/common/demo.h"
#include "apps/train_image/training.h"

using namespace firn;
using namespace firn::train_image;

namespace {

/// The picture that is used where none is given, beside the sources.
std::string default_picture() {
    return (std::filesystem::path(__FILE__).parent_path() / "../../assets/fluid.png")
        .lexically_normal();
}

/// What is known of a run, shown and printed.
class Progress {
  public:
    void begin() { *this = {}; }
    /// `loss`: of the last step.
    void add(Window& window, float loss) {
        smooth_ = smooth_ == 0 ? loss : 0.9f * smooth_ + 0.1f * loss;
        window.gui().plot("loss (log10)", std::log10(smooth_));
    }
    void report(Window& window, int steps, float decibels) {
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
        char text[64];
        std::snprintf(text, sizeof text, "%.2f dB", double(decibels));
        window.gui().text("likeness", text);
        std::printf("step %d: loss %.3g, %s, %.1f s\n", steps, double(smooth_), text,
                    seconds.count());
        std::fflush(stdout);
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    float smooth_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    NetworkOptions options;
    int view = 0, steps = 4, redraw = 4, every = 40, resolution = 256;
    std::string picture = default_picture();

    Demo demo({.name = "train_image",
               .help = "A network learns a picture: what it has learned, while it learns.",
               .size = {768, 768},
               .headless_frames = 400});
    Gui& gui = demo.gui();
    gui.combo("view", view, {"learned", "target", "difference"}, "what is shown");
    gui.slider("lr", settings.lr, 1e-5f, 1e-1f, {.help = "learning rate", .logarithmic = true});
    gui.slider("batch", settings.batch, 64, 65536, {.help = "pixels a step", .logarithmic = true});
    gui.slider(
        "averaged", settings.averaged, 0.0f, 0.9999f,
        {.help = "share of the mean of the weights that stays from step to step: it is shown"});
    gui.slider("steps", steps, 1, 100, {.help = "in every frame", .logarithmic = true});
    gui.slider(
        "redraw", redraw, 1, 100,
        {.help = "frames between pictures of what is learned: one costs as much as some steps"});
    gui.slider("report", every, 1, 1000, {.help = "frames between measures of the likeness"});
    gui.heading("from the next reset");
    gui.slider("resolution", resolution, 16, 1024, {.help = "rows of pixels that are learned"});
    gui.slider("features", options.features, 1, 512, {.help = "frequencies"});
    gui.slider("width", options.width, 4, 512, {.help = "of the hidden layers"});
    gui.slider("depth", options.depth, 1, 8, {.help = "hidden layers"});
    gui.slider("detail", options.detail, 0.5f, 50.0f, {.help = "deviation of the frequencies"});
    demo.option("picture", picture, "PNG or JPEG to learn");

    return demo.run(argc, argv, [&](Window& window) {
        auto [width, height] = window.size();
        const Tensor whole = load_image(picture);
        const auto start = [&, width = width, height = height] {
            const int columns = std::max(1, resolution * width / height);
            return make_training(resampled(whole, resolution, columns), options, demo.seed());
        };
        NetworkOptions made = options;
        Training training = start();
        Tensor learned = training.target * 0.0f;
        Progress progress;
        while (window.open()) {
            if (window.reset()) {
                if (made == options && training.target.size(0) == resolution)
                    restart(training, demo.seed());
                else
                    training = start();
                made = options;
                progress.begin();
            }
            Tensor loss;
            for (int step = 0; step < steps; ++step) loss = advance(training, settings);
            progress.add(window, loss.item<float>());
            const bool reports = window.frame() % every == every - 1;
            const bool last = window.frame() + 1 == window.options().frames;
            const bool draws = !window.options().headless && window.frame() % redraw == 0;
            if (draws || reports || last) learned = learned_picture(training);
            if (reports)
                progress.report(window, training.steps, decibels(learned, training.target));
            window.show(view == 0   ? learned
                        : view == 1 ? training.target
                                    : abs(learned - training.target));
        }
    });
}
