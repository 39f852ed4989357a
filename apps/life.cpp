// Conway's Game of Life and its kin: cells glow while they live and fade when they die.
#include <firn/firn.h>

using namespace firn;

namespace {

/// Bit n: a dead cell with n neighbours is born; bit 9 + n: a living one stays.
constexpr int rule(std::initializer_list<int> born, std::initializer_list<int> stays) {
    int bits = 0;
    for (int n : born) bits |= 1 << n;
    for (int n : stays) bits |= 1 << (9 + n);
    return bits;
}
const std::vector<std::string> kNames{"life", "high life", "day and night", "maze", "coral"};
constexpr int kRules[] = {rule({3}, {2, 3}), rule({3, 6}, {2, 3}),
                          rule({3, 6, 7, 8}, {3, 4, 6, 7, 8}), rule({3}, {1, 2, 3, 4, 5}),
                          rule({3}, {4, 5, 6, 7, 8})};

}  // namespace

int main(int argc, char** argv) {
    App app({.name = "life",
             .help = "The Game of Life; drag to add live cells.",
             .headless_frames = 300});
    Param<OneOf> kind{app, "rule", 0, kNames, {.help = "rule of birth and survival"}};
    Param<float> fading{
        app,
        "fading",
        0.96f,
        {.min = 0.5, .max = 0.995, .help = "brightness that dead cells keep from frame to frame"}};
    Param<float> brush{app, "brush", 4.0f, {.min = 1, .max = 40, .unit = "cells"}};
    Param<float> density{app,
                         "density",
                         0.25f,
                         {.min = 0.02,
                          .max = 0.9,
                          .group = "From the next reset",
                          .help = "share of live cells at the start"}};
    Param<int> cell{
        app, "cell", 2, {.min = 1, .max = 16, .unit = "pixels", .group = "From the next reset"}};
    return app.run(argc, argv, [&](Window& window) {
        auto live = compile(
            [](Tensor cells, Tensor heat, Tensor age, Tensor rule, Tensor fading) {
                auto [i, j] = indices<2>(cells.shape());
                Reader at = wrap(cells);
                Tensor neighbours = at(i - 1, j - 1) + at(i - 1, j) + at(i - 1, j + 1) +
                                    at(i, j - 1) + at(i, j + 1) + at(i + 1, j - 1) + at(i + 1, j) +
                                    at(i + 1, j + 1);
                Tensor next = (rule >> (9 * cells + neighbours)) & 1;
                return std::tuple{next, select(next == 1, 1.0f, heat * fading),
                                  select(next == 1, age + 1.0f, 0.0f)};
            },
            {i32("n", "m"), f32("n", "m"), f32("n", "m"), i32(), f32()});
        auto sow = compile(
            [](Tensor cells, BrushStroke stroke, Tensor brush, Tensor seed) {
                auto [i, j] = indices<2>(cells.shape());
                Tensor near = squared_distance(i + 0.5f, j + 0.5f, stroke) < brush * brush;
                return select(near & (pcgf(i * 8192 + j + pcg(seed)) < 0.4f), 1, cells);
            },
            {i32("n", "m"), f32(), f32(), f32(), f32(), f32(), i32()});
        // Newborn cells are white hot, old ones gold; what died cools through violet to blue.
        auto draw = compile(
            [](Tensor cells, Tensor heat, Tensor age) {
                const float born[] = {1.0f, 0.98f, 0.92f}, old[] = {1.0f, 0.62f, 0.18f},
                            warm[] = {0.62f, 0.12f, 0.48f}, cold[] = {0.03f, 0.05f, 0.16f};
                Tensor aged = 1.0f - exp(-0.15f * age);
                std::vector<Tensor> channels;
                for (size_t c = 0; c < 3; ++c) {
                    Tensor ash = mix(0.3f * cold[c], mix(cold[c], warm[c], heat), sqrt(heat));
                    channels.push_back(select(cells == 1, mix(born[c], old[c], aged), ash));
                }
                return stack(channels, {.axis = 2});
            },
            {i32("n", "m"), f32("n", "m"), f32("n", "m")});

        Tensor cells, heat, age;
        auto start = [&] {
            auto [width, height] = window.size();
            Shape shape{std::max(height / cell, 1), std::max(width / cell, 1)};
            cells = cast<int>(rand(shape, {.seed = int(app.seed())}) < density);
            heat = age = zeros(shape);
        };
        start();
        while (window.open()) {
            if (window.reset()) start();
            const Mouse& mouse = window.mouse();
            if (mouse.left.down) cells = sow(cells, stroke_of(mouse), brush, window.frame());
            if (window.playing())
                std::tie(cells, heat, age) = live(cells, heat, age, kRules[kind], fading);
            window.show(draw(cells, heat, age), {.smooth = false});
        }
    });
}
