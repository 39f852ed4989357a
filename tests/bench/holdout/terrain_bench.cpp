// A landscape of noise in the light.
#include <firn/firn.h>
#include <firn/shading.h>

#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kTerrainSide = 1024, kTerrainOctaves = 8;
constexpr int64_t kTerrainCells = int64_t(kTerrainSide) * kTerrainSide;
constexpr float kTerrainFrequency = 0.004f, kTerrainRelief = 60;

/// The slope at a point of the lattice, each part in [-1, 1).
vec2 terrain_gradient(const Tensor& x, const Tensor& y, const Tensor& octave) {
    Tensor h = x.as(u32) * 0x9e3779b1u ^ y.as(u32) * 0x85ebca77u ^ octave.as(u32) * 0xc2b2ae3du;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return vec2((h & 0xffffu).as(f32), (h >> 16).as(f32)) / 32768.0f - 1.0f;
}

Tensor terrain_fade(const Tensor& t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

/// K. Perlin, "Improving Noise", 2002, in the plane.
Tensor terrain_noise(const vec2& p, const Tensor& octave) {
    vec2 cell = floor(p), t = p - cell;
    Tensor x = cast<int>(cell.x), y = cast<int>(cell.y);
    auto corner = [&](int dx, int dy) {
        return dot(terrain_gradient(x + dx, y + dy, octave), t - vec2(float(dx), float(dy)));
    };
    Tensor u = terrain_fade(t.x), v = terrain_fade(t.y);
    return mix(mix(corner(0, 0), corner(1, 0), u), mix(corner(0, 1), corner(1, 1), u), v);
}

/// Light from the upper left upon a slope.
Tensor terrain_light(const Tensor& across, const Tensor& down) {
    return max(dot(normalize(vec3(-across, -down, 1.0f)), vec3(-0.48f, -0.36f, 0.8f)), 0.0f);
}

Tensor terrain_of(Tensor frequency, Tensor relief) {
    auto [i, j] = indices<2>({kTerrainSide, kTerrainSide});
    vec2 p = vec2(j.as(f32), i.as(f32)) * frequency;
    Tensor height = 0.0f;
    for (int octave = 0; octave < kTerrainOctaves; ++octave)
        height += std::exp2(-float(octave)) * terrain_noise(p * std::exp2(float(octave)), octave);
    height *= relief;
    Tensor across = 0.5f * (height(i, j + 1) - height(i, j - 1));
    Tensor down = 0.5f * (height(i + 1, j) - height(i - 1, j));
    return terrain_light(across, down);
}
Tensor terrain_kernel(Tensor frequency, Tensor relief) {
    Tensor height = zeros({kTerrainSide, kTerrainSide}), shade = zeros(height.shape());
    kernel(height.shape(), [&](Tensor i, Tensor j) {
        vec2 p = vec2(j.as(f32), i.as(f32)) * frequency;
        Tensor sum = 0.0f, amplitude = relief;
        for (Tensor octave : loop(kTerrainOctaves)) {
            sum += amplitude * terrain_noise(p, octave);
            p *= 2.0f;
            amplitude *= 0.5f;
        }
        height(i, j) = sum;
    });
    kernel(shade.shape(), [&](Tensor i, Tensor j) {
        Tensor across = 0.5f * (height(i, j + 1) - height(i, j - 1));
        Tensor down = 0.5f * (height(i + 1, j) - height(i - 1, j));
        shade(i, j) = terrain_light(across, down);
    });
    return shade;
}

uint32_t host_terrain_hash(uint32_t x, uint32_t y, uint32_t octave) {
    uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ octave * 0xc2b2ae3du;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    return h ^ h >> 15;
}
double host_terrain_noise(double px, double py, uint32_t octave) {
    const double x = std::floor(px), y = std::floor(py), tx = px - x, ty = py - y;
    auto corner = [&](int dx, int dy) {
        const uint32_t h =
            host_terrain_hash(uint32_t(x) + uint32_t(dx), uint32_t(y) + uint32_t(dy), octave);
        return (double(h & 0xffffu) / 32768 - 1) * (tx - dx) +
               (double(h >> 16) / 32768 - 1) * (ty - dy);
    };
    auto fade = [](double t) { return t * t * t * (t * (t * 6 - 15) + 10); };
    const double u = fade(tx), v = fade(ty);
    return std::lerp(std::lerp(corner(0, 0), corner(1, 0), u),
                     std::lerp(corner(0, 1), corner(1, 1), u), v);
}
std::vector<std::vector<float>> host_terrain() {
    Plane height(kTerrainSide, kTerrainSide), shade = height;
    for (int i = 0; i < kTerrainSide; ++i)
        for (int j = 0; j < kTerrainSide; ++j) {
            double sum = 0, scale = 1;
            for (uint32_t octave = 0; octave < kTerrainOctaves; ++octave, scale *= 2)
                sum += host_terrain_noise(scale * double(kTerrainFrequency) * j,
                                          scale * double(kTerrainFrequency) * i, octave) /
                       scale;
            height(i, j) = float(kTerrainRelief * sum);
        }
    for (int i = 0; i < kTerrainSide; ++i)
        for (int j = 0; j < kTerrainSide; ++j) {
            const double across =
                0.5 * (double(height.clamped(i, j + 1)) - double(height.clamped(i, j - 1)));
            const double down =
                0.5 * (double(height.clamped(i + 1, j)) - double(height.clamped(i - 1, j)));
            const double light = 0.48 * across + 0.36 * down + 0.8;
            shade(i, j) =
                float(std::max(light / std::sqrt(across * across + down * down + 1), 0.0));
        }
    return {shade.values};
}

constexpr const char* kTerrainHash = R"(
vec2 gradient(uint x, uint y, uint octave) {
    uint h = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ octave * 0xc2b2ae3du;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return vec2(h & 0xffffu, h >> 16) / 32768.0 - 1.0;
}
)";
constexpr const char* kTerrainHeight = R"(
vec2 fade(vec2 t) { return t * t * t * (t * (t * 6.0 - 15.0) + 10.0); }
float noise(vec2 p, uint octave) {
    vec2 cell = floor(p), t = p - cell, u = fade(t);
    uint x = uint(cell.x), y = uint(cell.y);
    float a = dot(gradient(x, y, octave), t);
    float b = dot(gradient(x + 1u, y, octave), t - vec2(1, 0));
    float c = dot(gradient(x, y + 1u, octave), t - vec2(0, 1));
    float d = dot(gradient(x + 1u, y + 1u, octave), t - vec2(1, 1));
    return mix(mix(a, b, u.x), mix(c, d, u.x), u.y);
}
void main() {
    vec2 p = vec2(gl_GlobalInvocationID.xy) * 0.004;
    float sum = 0.0, amplitude = 60.0;
    for (uint octave = 0u; octave < 8u; ++octave) {
        sum += amplitude * noise(p, octave);
        p *= 2.0;
        amplitude *= 0.5;
    }
    height[gl_GlobalInvocationID.y * 1024 + gl_GlobalInvocationID.x] = sum;
}
)";
constexpr const char* kTerrainShade = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), row = y * 1024;
    float left = height_at(row + max(x - 1, 0)), right = height_at(row + min(x + 1, 1023));
    float up = height_at(max(y - 1, 0) * 1024 + x), down = height_at(min(y + 1, 1023) * 1024 + x);
    vec3 normal = normalize(vec3(0.5 * (left - right), 0.5 * (up - down), 1.0));
    shade[row + x] = max(dot(normal, vec3(-0.48, -0.36, 0.8)), 0.0);
}
)";

HandProgram plain_terrain() {
    return {{{"terrain_height",
              std::string(kTerrainHash) + kTerrainHeight,
              {16, 16, 1},
              {kTerrainSide / 16, kTerrainSide / 16, 1},
              {{"height", As::Floats, 1, true}},
              {}},
             {"terrain_shade",
              kTerrainShade,
              {16, 16, 1},
              {kTerrainSide / 16, kTerrainSide / 16, 1},
              {{"height", As::Floats, 1}, {"shade", As::Floats, 0, true}},
              {}}},
            {kTerrainCells},
            {}};
}

// Down a column the noise of a cell is a + b t + fade(t) (c + d t). An invocation goes down 4 *
// WIDE columns of a strip, which is one cell of the third octave high: a cell of an octave has two
// of the next, so that nested loops meet every line of each lattice once. The values at a line, p +
// q t, serve the cells on both of its sides.
constexpr const char* kTerrainWalk = R"(
const float kFrequency = 0.004;
#define EACH [[unroll]] for (int k = 0; k < WIDE; ++k)
int strip = int(gl_WorkGroupID.y);
int column = int(gl_GlobalInvocationID.x) * WIDE;
vec4 p[8 * WIDE], q[8 * WIDE], a[8 * WIDE], b[8 * WIDE], c[8 * WIDE], d[8 * WIDE];
vec4 fade(vec4 t) { return t * t * t * (t * (t * 6.0 - 15.0) + 10.0); }
float fade(float t) { return t * t * t * (t * (t * 6.0 - 15.0) + 10.0); }
void line(int octave, int at, int k, out vec4 value, out vec4 slope) {
    vec4 x = vec4(ivec4(0, 1, 2, 3) + (column + k) * 4) * (kFrequency * float(1 << octave));
    vec4 cell = floor(x), t = x - cell, u = fade(t);
    float scale = 60.0 / float(1 << octave) / 32768.0;
    uvec4 h = uvec4(ivec4(cell)) * 0x9e3779b1u, g = h + 0x9e3779b1u;
    uint other = uint(at) * 0x85ebca77u ^ uint(octave) * 0xc2b2ae3du;
    h ^= other, g ^= other;
    h ^= h >> 15, g ^= g >> 15;
    h *= 0x2c1b3c6du, g *= 0x2c1b3c6du;
    h ^= h >> 12, g ^= g >> 12;
    h *= 0x297a2d39u, g *= 0x297a2d39u;
    h ^= h >> 15, g ^= g >> 15;
    vec4 hx = vec4(ivec4(h & 0xffffu)) * scale - 32768.0 * scale;
    vec4 gx = vec4(ivec4(g & 0xffffu)) * scale - 32768.0 * scale;
    vec4 hy = vec4(ivec4(h >> 16)) * scale - 32768.0 * scale;
    vec4 gy = vec4(ivec4(g >> 16)) * scale - 32768.0 * scale;
    vec4 left = hx * t, right = gx * t - gx;
    value = left + u * (right - left);
    slope = hy + u * (gy - hy);
}
void enter(int octave, int at) {
    EACH {
        int m = octave * WIDE + k;
        vec4 value, slope;
        line(octave, at + 1, k, value, slope);
        a[m] = p[m], b[m] = q[m];
        c[m] = value - slope - p[m];
        d[m] = slope - q[m];
        p[m] = value, q[m] = slope;
    }
}
int first_row(int cell) { return min(int(ceil(float(cell) / (kFrequency * 128.0))), 1024); }
#define HALVES(inner, outer) for (int inner = 2 * outer; inner < 2 * outer + 2; ++inner)
void main() {
    [[unroll]] for (int octave = 0; octave < 8; ++octave) {
        int at = octave < 2 ? strip >> (2 - octave) : strip << (octave - 2);
        EACH line(octave, at, k, p[octave * WIDE + k], q[octave * WIDE + k]);
    }
    enter(0, strip >> 2);
    enter(1, strip >> 1);
    enter(2, strip);
    HALVES(c3, strip) {
        enter(3, c3);
        HALVES(c4, c3) {
            enter(4, c4);
            HALVES(c5, c4) {
                enter(5, c5);
                HALVES(c6, c5) {
                    enter(6, c6);
                    HALVES(c7, c6) {
                        enter(7, c7);
                        int end = first_row(c7 + 1);
                        for (int y = first_row(c7); y < end; ++y) {
                            int cell[8] = int[](strip >> 2, strip >> 1, strip, c3, c4, c5, c6, c7);
                            vec4 sum[WIDE];
                            EACH sum[k] = vec4(0.0);
                            [[unroll]] for (int octave = 0; octave < 8; ++octave) {
                                float scale = kFrequency * float(1 << octave);
                                float t = float(y) * scale - float(cell[octave]);
                                float v = fade(t);
                                EACH {
                                    int m = octave * WIDE + k;
                                    sum[k] += a[m] + b[m] * t + v * (c[m] + d[m] * t);
                                }
                            }
                            EACH height[y * 256 + column + k] = sum[k];
                        }
                    }
                }
            }
        }
    }
}
)";
// Four columns of ROWS rows.
constexpr const char* kTerrainLight = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y) * ROWS;
    vec4 own[ROWS + 2];
    [[unroll]] for (int r = 0; r < ROWS + 2; ++r)
        own[r] = height_at(clamp(y + r - 1, 0, 1023) * 256 + x);
    [[unroll]] for (int r = 0; r < ROWS; ++r) {
        vec4 at = own[r + 1];
        int row = (y + r) * 1024 + 4 * x;
        float before = single_at(x == 0 ? row : row - 1);
        float after = single_at(x == 255 ? row + 3 : row + 4);
        vec4 across = 0.5 * (vec4(at.yzw, after) - vec4(before, at.xyz));
        vec4 down = 0.5 * (own[r + 2] - own[r]);
        vec4 light = max(0.48 * across + 0.36 * down + 0.8, 0.0);
        shade[(y + r) * 256 + x] = light * inversesqrt(across * across + down * down + 1.0);
    }
}
)";

HandProgram best_terrain() {
    constexpr int kWide = 2, kRows = 4;
    return {
        {{"terrain_walk",
          kTerrainWalk,
          {64, 1, 1},
          {kTerrainSide / 256 / kWide, 17, 1},
          {{"height", As::Vec4s, 1, true}},
          {{"WIDE", kWide}}},
         {"terrain_light",
          kTerrainLight,
          {64, 1, 1},
          {kTerrainSide / 256, kTerrainSide / kRows, 1},
          {{"height", As::Texels4, 1}, {"single", As::Texels, 1}, {"shade", As::Vec4s, 0, true}},
          {{"ROWS", kRows}}}},
        {kTerrainCells},
        {}};
}

Contest terrain(Tensor (*program)(Tensor, Tensor)) {
    auto f = compile(program, {f32(), f32()});
    // Down a column the noise is a + b t + s (c + d t), of which only t and s = fade(t) differ in
    // each row of a cell: 6 for an octave. For the shade: differences 4, the light 4, the length 4,
    // its root, the quotient, and the larger one.
    constexpr double kOfACell = 6.0 * kTerrainOctaves + 15;
    return {.least = {0, 4.0 * kTerrainCells, kOfACell * kTerrainCells},
            .arguments = {},
            .results = {kTerrainCells},
            .firn = [=] { return std::vector<Tensor>{f(kTerrainFrequency, kTerrainRelief)}; },
            .best = best_terrain(),
            .plain = plain_terrain(),
            .tolerance = 1e-3,
            .expected = host_terrain};
}

}  // namespace

void add_terrain(std::vector<Case>& cases) {
    constexpr const char* kHashed =
        "a hash of integers is many operations, and none of them an fma";
    cases.push_back({"terrain", [] { return terrain(terrain_of); }, Section::Training, kHashed});
    cases.push_back(
        {"terrain_kernel", [] { return terrain(terrain_kernel); }, Section::Training, kHashed});
}

}  // namespace firn::bench
