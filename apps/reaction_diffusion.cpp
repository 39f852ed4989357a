// Gray and Scott's reaction: two substances that feed on each other grow corals, cells and worms.
#include <firn/firn.h>

using namespace firn;

namespace {

/// Neighbours' mean less the own value, around the edges; J. Pearson, "Complex Patterns in a Simple
/// System", 1993, with the nine-point stencil of K. Sims.
Tensor diffusion(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    Reader at = wrap(x);
    return 0.2f * (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1)) +
           0.05f * (at(i - 1, j - 1) + at(i - 1, j + 1) + at(i + 1, j - 1) + at(i + 1, j + 1)) - x;
}

/// Patterns as a relief, lit from the upper left: dark ground, warm slopes, pale ridges.
Tensor relief(const Tensor& u, const Tensor& v) {
    auto [i, j] = indices<2>(v.shape());
    Tensor height = smoothstep(0.05f, 0.38f, v), food = 1.0f - u;
    Tensor slope_i = v(i + 1, j) - v(i - 1, j), slope_j = v(i, j + 1) - v(i, j - 1);
    Tensor steep = rsqrt(0.012f + slope_i * slope_i + slope_j * slope_j);
    Tensor light = (0.06f + 0.62f * slope_i + 0.48f * slope_j) * steep;
    Tensor shine = square(square(max(light, 0.0f)));
    const float ground[] = {0.02f, 0.07f, 0.13f}, slope[] = {0.05f, 0.42f, 0.48f},
                ridge[] = {1.0f, 0.80f, 0.52f};
    std::vector<Tensor> channels;
    for (size_t c = 0; c < 3; ++c) {
        Tensor colour =
            mix(mix(ground[c], slope[c], smoothstep(0.1f, 0.6f, food)), ridge[c], height * height);
        channels.push_back(colour * (0.45f + 0.75f * max(light, 0.0f)) + 0.25f * shine * height);
    }
    return clamp(stack(channels, {.axis = 2}), 0.0f, 1.0f);
}

}  // namespace

int main(int argc, char** argv) {
    const std::pair<float, float> kPatterns[] = {
        {0.0545f, 0.062f}, {0.0367f, 0.0649f}, {0.030f, 0.0565f}, {0.018f, 0.051f}};
    App app({.name = "reaction_diffusion",
             .help = "Patterns of two substances; drag to add some.",
             .headless_frames = 400});
    Param<OneOf> pattern{
        app, "pattern", 0, {"coral", "cells", "worms", "waves"}, {.help = "sets feed and kill"}};
    Param<float> feed{app,
                      "feed",
                      0.0545f,
                      {.min = 0.01, .max = 0.08, .help = "feed rate of the first substance"}};
    Param<float> kill{app,
                      "kill",
                      0.062f,
                      {.min = 0.04, .max = 0.07, .help = "removal rate of the second substance"}};
    Param<int> steps{app, "steps", 12, {.min = 1, .max = 40, .help = "simulation steps per frame"}};
    Param<float> brush{app, "brush", 12.0f, {.min = 2, .max = 60, .unit = "cells"}};
    return app.run(argc, argv, [&](Window& window) {
        auto react = compile(
            [](Tensor u, Tensor v, Tensor feed, Tensor kill, Tensor steps) {
                for (Tensor step : loop(steps)) {
                    Tensor reaction = u * v * v;
                    Tensor du = diffusion(u) - reaction + feed * (1.0f - u),
                           dv = 0.5f * diffusion(v) + reaction - (feed + kill) * v;
                    u += du, v += dv;
                }
                return std::pair{u, v};
            },
            {f32("n", "m"), f32("n", "m"), f32(), f32(), i32()});
        auto sow = compile(
            [](Tensor v, BrushStroke stroke, Tensor brush) {
                auto [i, j] = indices<2>(v.shape());
                Tensor away = squared_distance(i + 0.5f, j + 0.5f, stroke);
                return select(away < brush * brush, 0.5f, v);
            },
            {f32("n", "m"), f32(), f32(), f32(), f32(), f32()});
        auto draw = compile(relief, {f32("n", "m"), f32("n", "m")});

        Tensor u, v;
        auto start = [&] {
            auto [width, height] = window.size();
            // Seeds: every block of 40 cells has one with a chance of a third.
            auto [i, j] = indices<2>(Shape{height, width});
            Tensor block = (i / 40) * 4096 + j / 40 + int(app.seed()) * 7919;
            Tensor seed = (pcgf(block) < 0.33f) & (square(i % 40 - 20) + square(j % 40 - 20) < 30);
            u = ones({height, width}), v = select(seed, 0.5f, 0.0f);
        };
        start();
        while (window.open()) {
            // If only the pattern was changed, feed and kill are those of the pattern.
            const bool anew = pattern.changed(), fed = feed.changed(), killed = kill.changed();
            if (anew && !fed) feed = kPatterns[pattern].first;
            if (anew && !killed) kill = kPatterns[pattern].second;
            if (window.reset()) start();
            const Mouse& mouse = window.mouse();
            if (mouse.left.down) v = sow(v, stroke_of(mouse), brush);
            if (window.playing()) std::tie(u, v) = react(u, v, feed, kill, steps);
            window.show(draw(u, v));
        }
    });
}
