// The compiled step and what a simulation starts from.
#include "apps/fluid/simulation.h"

#include <algorithm>
#include <cmath>

namespace firn::fluid {
namespace {

/// A picture f32[h, w, 3] scaled to cover n x m cells, one channel of it.
Tensor covering(const Tensor& picture, int channel, int n, int m) {
    float h = static_cast<float>(int(picture.size(0))),
          w = static_cast<float>(int(picture.size(1)));
    float scale = std::min(h / float(n), w / float(m));
    auto [i, j] = indices<2>(Shape{n, m});
    Tensor y = 0.5f * h + (i - 0.5f * float(n - 1)) * scale - 0.5f;
    Tensor x = 0.5f * w + (j - 0.5f * float(m - 1)) * scale - 0.5f;
    Tensor top = floor(y), left = floor(x), s = y - top, t = x - left;
    Tensor row = cast<int>(top), column = cast<int>(left);
    auto at = [&](int a, int b) { return picture(row + a, column + b, channel); };
    return mix(mix(at(0, 0), at(0, 1), t), mix(at(1, 0), at(1, 1), t), s);
}

}  // namespace

StepFunction compile_step(const Tensor& open) {
    ArgSpec field{f32, open.shape()}, number = f32();
    return compile(
        [open, levels = pyramid(open)](Flow flow, Brush brush, Constants constants) {
            return step(flow, open, levels, brush, constants);
        },
        {field,  field,  field,  field,  field,  field,   // the flow
         number, number, number, number, number, number,  // the brush
         number, number, number, number, number, number,  //
         number, number, number, number, i32(),  i32()});
}

Simulation make_simulation(const Tensor& picture, const Tensor& open) {
    int n = open.size(0), m = open.size(1);
    Tensor still = zeros({n, m});
    Flow flow{still,
              still,
              still,
              {covering(picture, 0, n, m), covering(picture, 1, n, m), covering(picture, 2, n, m)}};
    return {flow, open, still, still, compile_step(open)};
}

void advance(Simulation& simulation, const Settings& settings, const Stroke& stroke) {
    const auto& [red, green, blue] = stroke.colour;
    const Brush brush{stroke.from_y, stroke.from_x,     stroke.to_y, stroke.to_x,
                      stroke.radius, stroke.u,          stroke.v,    stroke.strength,
                      stroke.ink,    {red, green, blue}};
    const Constants constants{settings.dt,
                              settings.confinement,
                              std::pow(1 - settings.velocity_loss, settings.dt),
                              std::pow(1 - settings.dye_loss, settings.dt),
                              settings.cycles,
                              settings.sweeps};
    const FlowStep next = simulation.step(simulation.flow, brush, constants);
    simulation.flow = next.flow;
    simulation.u_before = next.u_before, simulation.v_before = next.v_before;
}

std::array<float, 3> ink_colour(float turn) {
    constexpr std::array<std::array<float, 3>, 5> kInks{{{0.95f, 0.38f, 0.27f},
                                                         {0.98f, 0.72f, 0.28f},
                                                         {0.97f, 0.94f, 0.88f},
                                                         {0.25f, 0.72f, 0.70f},
                                                         {0.80f, 0.28f, 0.55f}}};
    float place = (turn - std::floor(turn)) * float(kInks.size()), t = place - std::floor(place);
    size_t first = static_cast<size_t>(place) % kInks.size();
    std::array<float, 3> colour;
    for (size_t c = 0; c < 3; ++c)
        colour[c] = std::lerp(kInks[first][c], kInks[(first + 1) % kInks.size()][c], t);
    return colour;
}

Tensor default_obstacles(int n, int m) {
    float unit = float(std::min(n, m));
    auto [i, j] = indices<2>(Shape{n, m});
    Tensor y = (i - 0.5f * float(n)) / unit, x = (j - 0.5f * float(m)) / unit;
    auto disc = [&](float cy, float cx, float radius) {
        return square(y - cy) + square(x - cx) < radius * radius;
    };
    Tensor along = 0.94f * x + 0.34f * (y - 0.28f), across = 0.94f * (y - 0.28f) - 0.34f * x;
    Tensor bar = (abs(along) < 0.16f) & (abs(across) < 0.018f);
    return cast<float>(!(disc(-0.12f, -0.42f, 0.09f) | disc(-0.05f, 0.45f, 0.11f) | bar));
}

Stroke scripted_stroke(int frame, int n, int m, const Settings& settings) {
    float unit = float(std::min(n, m));
    auto place = [&](float time) {
        float y = 0.5f + 0.30f * std::sin(2.3f * time + 0.6f),
              x = 0.5f + 0.38f * std::sin(1.6f * time - 0.9f);
        return std::pair{y * float(n), x * float(m)};
    };
    float time = float(frame) * settings.dt;
    auto [from_y, from_x] = place(time);
    auto [to_y, to_x] = place(time + settings.dt);
    float per_second = 1 / std::max(settings.dt, 1e-6f);
    return {from_y,
            from_x,
            to_y,
            to_x,
            0.04f * unit,
            (to_x - from_x) * per_second,
            (to_y - from_y) * per_second,
            0.5f,
            0.25f,
            ink_colour(0.13f * time)};
}

}  // namespace firn::fluid
