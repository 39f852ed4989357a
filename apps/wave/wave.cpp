// Waves on a membrane: one fused kernel per step, shown straight from device memory.
#include <firn/firn.h>

using namespace firn;

int main(int argc, char** argv) {
    App app({.name = "wave", .help = "Waves on a membrane.", .headless_frames = 400});
    Param<float> dt{app, "dt", 0.4f, {.min = 0, .max = 0.5, .help = "time step"}};
    return app.run(argc, argv, [&](Window& window) {
        // Shapes may be symbolic: one compiled program serves every n, m.
        auto wave = compile(
            [](Tensor u, Tensor v, Tensor dt) {
                auto [i, j] = indices<2>(u.shape());
                Tensor laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
                Tensor v_next = v + dt * laplacian;
                return std::tuple{u + dt * v_next, v_next};
            },
            {f32("n", "m"), f32("n", "m"), f32()});

        Tensor u, v;
        auto start = [&] {
            auto [width, height] = window.size();  // a reset fits another size of the window
            auto [i, j] = indices<2>(Shape{height, width});
            u = exp(-0.01f * (square(i - height / 2) + square(j - width / 2)));  // a drop
            v = zeros({height, width});
        };
        start();
        while (window.open()) {
            if (window.reset()) start();
            // dt is a push constant: no recompile, no upload. A pause stops time, and nothing else.
            if (window.playing()) std::tie(u, v) = wave(u, v, dt);
            window.show(u, colormap::viridis);  // straight from device memory to the swapchain
        }
    });
}
