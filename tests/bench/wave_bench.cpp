// One step of the wave equation at 1024 x 1024, the program of apps/wave.
#include <firn/firn.h>

#include <algorithm>
#include <cmath>

#include "tests/bench/bench.h"
#include "tests/bench/hand_written.h"

namespace firn::bench {
namespace {

constexpr int kSize = 1024;
constexpr float kStep = 0.1f;

// Four columns and four rows per invocation. Loads are texel loads, whole rows as vec4 and the
// columns beside them as floats; edges clamp; stores are vec4.
constexpr const char* kWave = R"(#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 64, local_size_y = 4) in;
layout(set = 0, binding = 0, rgba32f) uniform readonly imageBuffer u4;
layout(set = 0, binding = 1, r32f) uniform readonly imageBuffer u1;
layout(set = 0, binding = 2, rgba32f) uniform readonly imageBuffer v4;
layout(set = 0, binding = 3, std430) writeonly buffer Height { vec4 height[]; };
layout(set = 0, binding = 4, std430) writeonly buffer Speed { vec4 speed[]; };
const int n = 1024, columns = 256;
const float dt = 0.1;
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y) * 4;
    vec4 rows[6];
    [[unroll]] for (int k = 0; k < 6; ++k)
        rows[k] = imageLoad(u4, clamp(y + k - 1, 0, n - 1) * columns + x);
    int before = max(4 * x - 1, 0), after = min(4 * x + 4, n - 1);
    [[unroll]] for (int k = 0; k < 4; ++k) {
        vec4 centre = rows[k + 1];
        float left = imageLoad(u1, (y + k) * n + before).x;
        float right = imageLoad(u1, (y + k) * n + after).x;
        vec4 laplacian = rows[k] + rows[k + 2] + vec4(left, centre.xyz) + vec4(centre.yzw, right) - 4.0 * centre;
        int at = (y + k) * columns + x;
        vec4 next = imageLoad(v4, at) + dt * laplacian;
        speed[at] = next;
        height[at] = centre + dt * next;
    }
}
)";

constexpr const char* kPlainWave = R"(#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, std430) readonly buffer Height0 { float u[]; };
layout(set = 0, binding = 1, std430) readonly buffer Speed0 { float v[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Height { float height[]; };
layout(set = 0, binding = 3, std430) writeonly buffer Speed { float speed[]; };
const int n = 1024;
const float dt = 0.1;
float read(int y, int x) { return u[clamp(y, 0, n - 1) * n + clamp(x, 0, n - 1)]; }
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float centre = read(y, x);
    float laplacian = read(y - 1, x) + read(y + 1, x) + read(y, x - 1) + read(y, x + 1) - 4.0 * centre;
    float next = v[y * n + x] + dt * laplacian;
    speed[y * n + x] = next;
    height[y * n + x] = centre + dt * next;
}
)";

std::vector<float> drop() {
    std::vector<float> values(size_t(kSize) * kSize);
    for (int y = 0; y < kSize; ++y)
        for (int x = 0; x < kSize; ++x) {
            float dx = (x - 400) / 60.0f, dy = (y - 500) / 60.0f;
            values[size_t(y) * kSize + size_t(x)] = std::exp(-dx * dx - dy * dy);
        }
    return values;
}

}  // namespace

Contest wave_contest(Executor& executor) {
    auto wave = compile(
        [](Tensor u, Tensor v, Tensor dt) {
            auto [i, j] = indices<2>(u.shape());
            Tensor laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
            Tensor v_next = v + dt * laplacian;
            return std::tuple{u + dt * v_next, v_next};
        },
        {f32("n", "m"), f32("n", "m"), f32()});

    constexpr int64_t kElements = int64_t(kSize) * kSize;
    HandKernel kernel{"wave",          kWave,
                      {64, 4, 1},      {texel(4), texel(1), texel(4), storage(true), storage(true)},
                      {0, 0, 1, 2, 3}, {kSize / 4 / 64, kSize / 4 / 4, 1}};
    auto by_hand = [&](const std::string& name, const HandKernel& kernel) {
        auto side =
            std::make_shared<HandWritten>(executor, name,
                                          std::vector<HandBuffer>{{kElements, BufferRole::Argument},
                                                                  {kElements, BufferRole::Argument},
                                                                  {kElements, BufferRole::Result},
                                                                  {kElements, BufferRole::Result}},
                                          std::vector<HandKernel>{kernel});
        side->write(0, drop());
        side->write(1, std::vector<float>(size_t(kElements)));
        return side;
    };
    HandKernel plain_kernel{
        "plain_wave", kPlainWave,
        {16, 16, 1},  {storage(false), storage(false), storage(true), storage(true)},
        {0, 1, 2, 3}, {kSize / 16, kSize / 16, 1}};
    auto hand = by_hand("wave by hand", kernel), plain = by_hand("plain wave", plain_kernel);
    auto step = [](HandWritten& side) {
        side.run();
        side.swap(0, 0);
        side.swap(1, 1);
    };
    // After a step the newest state is the argument.
    auto newest = [](HandWritten& side) {
        side.swap(0, 0);
        std::vector<float> values = side.read(0);
        side.swap(0, 0);
        return values;
    };

    Tensor u = tensor(drop(), {kSize, kSize}), v = zeros({kSize, kSize});
    auto state = std::make_shared<std::pair<Tensor, Tensor>>(u, v);
    return {"wave 1024x1024",
            [=]() mutable {
                std::tie(state->first, state->second) = wave(state->first, state->second, kStep);
            },
            [=] { step(*hand); },
            [=] { step(*plain); },
            [=] {
                const std::vector<float> expected = newest(*hand);
                return std::max(relative_difference(state->first.to_vector<float>(), expected),
                                relative_difference(newest(*plain), expected));
            },
            4.0 * 4 * kElements};
}

}  // namespace firn::bench
