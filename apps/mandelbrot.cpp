// The Mandelbrot set: drag to move, the wheel zooms; a view that stays gets sharper.
#include <firn/firn.h>

#include <algorithm>
#include <cmath>

using namespace firn;

namespace {

constexpr float kFar = 256.0f;  // where a point counts as escaped; larger is smoother

/// (x, y) as a complex number to the power of n, by squares and products.
std::pair<Tensor, Tensor> power_of(const Tensor& x, const Tensor& y, int n) {
    if (n == 1) return {x, y};
    const auto [a, b] = power_of(x, y, n / 2);
    const Tensor real = a * a - b * b, imaginary = 2.0f * a * b;
    if (n % 2 == 0) return {real, imaginary};
    return {real * x - imaginary * y, real * y + imaginary * x};
}

/// Iterations until z -> z^power + c leaves the circle, with a fraction that makes it smooth; 0
/// inside.
Tensor escape_time(const Tensor& cx, const Tensor& cy, const Tensor& limit, int power) {
    Tensor x = cx, y = cy, iterations = 0.0f;
    for (Tensor iteration : loop(min(limit, 20000))) {
        if_(x * x + y * y > kFar, [&] { break_(); });
        const auto [real, imaginary] = power_of(x, y, power);
        x = real + cx, y = imaginary + cy;
        iterations += 1.0f;
    }
    const Tensor far = x * x + y * y, beyond = log2(0.5f * log2(max(far, kFar)));
    return select(far > kFar, iterations + 2.0f - beyond / std::log2(float(power)), 0.0f);
}

/// Returns deep blue, white and gold in alternation; the set itself is black.
Tensor palette(const Tensor& time) {
    Tensor phase = 0.25f + 0.5f * log2(time + 2.0f);
    std::vector<Tensor> channels;
    const float shift[] = {0.0f, 0.10f, 0.22f};
    for (float s : shift) {
        Tensor wave = 0.5f - 0.5f * cos(2 * 3.14159265f * (phase - s));
        channels.push_back(select(time > 0.0f, wave * (0.35f + 0.65f * wave), 0.0f));
    }
    return stack(channels, {.axis = 2});
}

}  // namespace

int main(int argc, char** argv) {
    App app({.name = "mandelbrot",
             .help = "The Mandelbrot set: drag to move, the wheel zooms.",
             .headless_frames = 16});
    Param<float> x{app, "x", -0.7454f, {.min = -2.5, .max = 1.5, .help = "x of the centre"}};
    Param<float> y{app, "y", 0.1316f, {.min = -1.5, .max = 1.5, .help = "y of the centre"}};
    Param<float> zoom{
        app,
        "zoom",
        8.5f,
        {.min = -1, .max = 14, .help = "zoom in powers of two; f32 is exact up to about 14"}};
    Param<int> limit{
        app,
        "limit",
        400,
        {.min = 16, .max = 4000, .help = "iterations after which a point counts as inside"}};
    Param<int> power{app, "power", 2, {.min = 2, .max = 9, .help = "power in z -> z^power + c"}};
    return app.run(argc, argv, [&](Window& window) {
        // Adds one sample of every pixel, each frame somewhere else inside it.
        const auto sampler = [](int power) {
            return compile(
                [=](Tensor total, Tensor x, Tensor y, Tensor scale, Tensor limit, Tensor frame) {
                    auto [i, j] = indices<2>({total.size(0), total.size(1)});
                    Tensor di = frac(frame * 0.7548777f), dj = frac(frame * 0.5698403f);
                    Tensor cx = x + scale * (j + dj - 0.5f * total.size(1)),
                           cy = y - scale * (i + di - 0.5f * total.size(0));
                    return total + palette(escape_time(cx, cy, limit, power));
                },
                {f32("h", "w", 3), f32(), f32(), f32(), i32(), f32()});
        };
        // The power is part of the program: another one is compiled while this one draws on.
        auto sample = structural(sampler, power);
        auto mean = compile([](Tensor total, Tensor count) { return total / count; },
                            {f32("h", "w", 3), f32()});

        Tensor total;
        std::array<float, 7> shown{};
        int samples = 0;
        while (window.open()) {
            const Mouse& mouse = window.mouse();
            const auto [width, height] = window.pixels();
            float scale = 3.0f * std::exp2(-zoom) / float(height);
            x.set_step(scale), y.set_step(scale);
            if (mouse.left.down) x -= scale * mouse.dj, y += scale * mouse.di;
            if (mouse.inside && mouse.wheel != 0) {
                // The point under the mouse stays there.
                float before = scale;
                zoom += 0.25f * mouse.wheel;
                scale = 3.0f * std::exp2(-zoom) / float(height);
                x += (before - scale) * (mouse.j - 0.5f * float(width));
                y -= (before - scale) * (mouse.i - 0.5f * float(height));
            }
            const float program = 2.0f * float(power) + float(sample.compiling());
            const std::array<float, 7> view{
                x, y, zoom, float(limit), float(height), float(width), program};
            if (window.reset() || view != shown || samples == 0) {
                total = zeros({height, width, 3});
                shown = view, samples = 0;
            }
            if (window.playing() || samples == 0)
                total = sample(total, x, y, scale, limit, float(samples++));
            window.show(mean(total, float(samples)));
        }
    });
}
