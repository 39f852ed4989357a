// Heat spreads: drag to warm the plate.
#include <firn/firn.h>
using namespace firn;
int main(int argc, char** argv) {
    App app({.name = "heat", .help = "Heat spreads: drag to warm the plate."});
    Param<float> rate{app, "rate", 0.2f, {.min = 0, .max = 0.25, .help = "diffusion rate"}};
    return app.run(argc, argv, [&](Window& window) {
        const auto step = [](Tensor u, Tensor rate, Tensor y, Tensor x, Tensor warm) {
            auto [i, j] = indices<2>(u.shape());
            Tensor around = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1);
            return u + rate * (around - 4.0f * u) +
                   warm * exp(-0.01f * (square(i - y) + square(j - x)));
        };
        auto heat = compile(step, {f32("n", "m"), f32(), f32(), f32(), f32()});
        auto [width, height] = window.size();
        Tensor u = heat(zeros({height, width}), 0, height / 2, width / 2, 1);
        for (const Mouse& mouse = window.mouse(); window.open(); window.show(u, colormap::inferno))
            if (window.playing()) u = heat(u, rate, mouse.i, mouse.j, 0.1f * mouse.left.down);
    });
}
