// Development of a raw photograph: a Bayer mosaic becomes a picture in sRGB.
#include <firn/firn.h>
#include <firn/shading.h>

#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kDemosaicRows = 1024, kDemosaicColumns = 1536;
constexpr int64_t kDemosaicPixels = int64_t(kDemosaicRows) * kDemosaicColumns;
// The sensor's values in the dark and at saturation, the gains for daylight, and the camera's
// colours to linear sRGB, whose rows sum to 1.
constexpr float kDemosaicBlack = 512, kDemosaicWhite = 4095;
constexpr std::array kDemosaicGains{2.1f, 1.0f, 1.6f};
constexpr std::array kDemosaicMatrix{1.7f,   -0.6f, -0.1f,  //
                                     -0.25f, 1.6f,  -0.35f, 0.05f, -0.5f, 1.45f};

/// H. Malvar, L. He, R. Cutler, "High-Quality Linear Interpolation for Demosaicing of Bayer-
/// Patterned Color Images", 2004: bilinear interpolation, corrected by how the own colour bends.
/// Even rows are red, green, red, .., odd ones green, blue, green, ..
Tensor demosaic(Tensor raw, Tensor black, Tensor white, Tensor gains, Tensor matrix) {
    Size rows = raw.size(0), columns = raw.size(1);
    auto [i, j] = indices<2>(raw.shape());
    Tensor even_row = i % 2 == 0, even_column = j % 2 == 0;
    Tensor is_red = even_row & even_column, is_blue = !(even_row | even_column);
    Tensor gain = select(is_red, gains(0), select(is_blue, gains(2), gains(1)));
    Tensor mosaic = clip((raw - black) / (white - black), 0.0f, 1.0f) * gain;

    // Mirrored at the pixel at the edge, colours fall on their own.
    Tensor padded = pad(mosaic, PadMode::Reflect, {.before = {2, 2}, .after = {2, 2}});
    auto at = [&](int down, int right) {
        return padded(range(2 + down, rows + 2 + down), range(2 + right, columns + 2 + right));
    };
    Tensor beside = at(0, -1) + at(0, 1), above = at(-1, 0) + at(1, 0);
    Tensor two_beside = at(0, -2) + at(0, 2), two_above = at(-2, 0) + at(2, 0);
    Tensor corners = at(-1, -1) + at(-1, 1) + at(1, -1) + at(1, 1);
    Tensor cross = (4.0f * mosaic + 2.0f * (beside + above) - two_beside - two_above) / 8.0f;
    Tensor in_row =
        (5.0f * mosaic + 4.0f * beside - two_beside - corners + 0.5f * two_above) / 8.0f;
    Tensor in_column =
        (5.0f * mosaic + 4.0f * above - two_above - corners + 0.5f * two_beside) / 8.0f;
    Tensor diagonal = (6.0f * mosaic + 2.0f * corners - 1.5f * (two_beside + two_above)) / 8.0f;
    Tensor red =
        where(is_red, mosaic, where(is_blue, diagonal, where(even_row, in_row, in_column)));
    Tensor green = where(is_red | is_blue, cross, mosaic);
    Tensor blue =
        where(is_blue, mosaic, where(is_red, diagonal, where(even_row, in_column, in_row)));

    Tensor camera = stack({red, green, blue}, {.axis = -1});
    Tensor linear = clip(matmul(camera, matrix.T()), 0.0f, 1.0f);
    return where(linear <= 0.0031308f, 12.92f * linear, 1.055f * pow(linear, 1.0f / 2.4f) - 0.055f);
}
Tensor demosaic_kernel(Tensor raw, Tensor black, Tensor white, Tensor gains, Tensor matrix) {
    Size rows = raw.size(0), columns = raw.size(1);
    Tensor out = zeros({rows, columns, 3});
    kernel({rows, columns}, [&](Tensor i, Tensor j) {
        auto at = [&](int down, int right) {
            Tensor y = abs(i + down), x = abs(j + right);
            y = min(y, 2 * (rows - 1) - y);
            x = min(x, 2 * (columns - 1) - x);
            Tensor channel = (y & 1) + (x & 1);
            return clamp((raw(y, x) - black) / (white - black), 0.0f, 1.0f) * gains(channel);
        };
        Tensor own = at(0, 0);
        Tensor beside = at(0, -1) + at(0, 1), above = at(-1, 0) + at(1, 0);
        Tensor two_beside = at(0, -2) + at(0, 2), two_above = at(-2, 0) + at(2, 0);
        Tensor corners = at(-1, -1) + at(-1, 1) + at(1, -1) + at(1, 1);
        vec3 camera(own, own, own);
        if_((i & 1) == (j & 1),
            [&] {
                Tensor other =
                    (6.0f * own + 2.0f * corners - 1.5f * (two_beside + two_above)) / 8.0f;
                camera.y = (4.0f * own + 2.0f * (beside + above) - two_beside - two_above) / 8.0f;
                if_((i & 1) == 0, [&] { camera.z = other; }, [&] { camera.x = other; });
            },
            [&] {
                Tensor in_row =
                    (5.0f * own + 4.0f * beside - two_beside - corners + 0.5f * two_above) / 8.0f;
                Tensor in_column =
                    (5.0f * own + 4.0f * above - two_above - corners + 0.5f * two_beside) / 8.0f;
                camera.x = select((i & 1) == 0, in_row, in_column);
                camera.z = select((i & 1) == 0, in_column, in_row);
            });
        for (int k = 0; k < 3; ++k) {
            Tensor linear = dot(vec3(matrix(k, 0), matrix(k, 1), matrix(k, 2)), camera);
            linear = clamp(linear, 0.0f, 1.0f);
            out(i, j, k) = select(linear <= 0.0031308f, 12.92f * linear,
                                  1.055f * pow(linear, 1.0f / 2.4f) - 0.055f);
        }
    });
    return out;
}

std::vector<float> host_demosaic(const Plane& raw) {
    Plane mosaic = raw;
    for (int i = 0; i < raw.h; ++i)
        for (int j = 0; j < raw.w; ++j) {
            const float share = (raw(i, j) - kDemosaicBlack) / (kDemosaicWhite - kDemosaicBlack);
            mosaic(i, j) =
                std::clamp(share, 0.0f, 1.0f) * kDemosaicGains[size_t((i & 1) + (j & 1))];
        }
    std::vector<float> out;
    out.reserve(size_t(kDemosaicPixels) * 3);
    for (int i = 0; i < raw.h; ++i)
        for (int j = 0; j < raw.w; ++j) {
            const auto at = [&](int down, int right) {
                const int y = std::abs(i + down), x = std::abs(j + right);
                return mosaic(std::min(y, 2 * raw.h - 2 - y), std::min(x, 2 * raw.w - 2 - x));
            };
            const float own = at(0, 0);
            const float beside = at(0, -1) + at(0, 1), above = at(-1, 0) + at(1, 0);
            const float two_beside = at(0, -2) + at(0, 2), two_above = at(-2, 0) + at(2, 0);
            const float corners = at(-1, -1) + at(-1, 1) + at(1, -1) + at(1, 1);
            const bool red_row = i % 2 == 0;
            std::array<float, 3> camera{own, own, own};
            if ((i + j) % 2 == 0) {
                camera[1] = (4 * own + 2 * (beside + above) - two_beside - two_above) / 8;
                camera[red_row ? 2 : 0] =
                    (6 * own + 2 * corners - 1.5f * (two_beside + two_above)) / 8;
            } else {
                camera[red_row ? 0 : 2] =
                    (5 * own + 4 * beside - two_beside - corners + 0.5f * two_above) / 8;
                camera[red_row ? 2 : 0] =
                    (5 * own + 4 * above - two_above - corners + 0.5f * two_beside) / 8;
            }
            for (size_t k = 0; k < 3; ++k) {
                float linear = 0;
                for (size_t c = 0; c < 3; ++c) linear += kDemosaicMatrix[3 * k + c] * camera[c];
                linear = std::clamp(linear, 0.0f, 1.0f);
                out.push_back(linear <= 0.0031308f
                                  ? 12.92f * linear
                                  : 1.055f * std::pow(linear, 1.0f / 2.4f) - 0.055f);
            }
        }
    return out;
}

constexpr const char* kPlainDemosaic = R"(
int y, x;
float at(int down, int right) {
    int py = abs(y + down), px = abs(x + right);
    py = min(py, 2 * (ROWS - 1) - py);
    px = min(px, 2 * (COLUMNS - 1) - px);
    float share = (raw_at(py * COLUMNS + px) - 512.0) / (4095.0 - 512.0);
    return clamp(share, 0.0, 1.0) * gains_at((py & 1) + (px & 1));
}
void main() {
    x = int(gl_GlobalInvocationID.x);
    y = int(gl_GlobalInvocationID.y);
    float own = at(0, 0);
    float beside = at(0, -1) + at(0, 1), above = at(-1, 0) + at(1, 0);
    float two_beside = at(0, -2) + at(0, 2), two_above = at(-2, 0) + at(2, 0);
    float corners = at(-1, -1) + at(-1, 1) + at(1, -1) + at(1, 1);
    vec3 camera = vec3(own);
    if ((y & 1) == (x & 1)) {
        float other = (6.0 * own + 2.0 * corners - 1.5 * (two_beside + two_above)) / 8.0;
        camera.y = (4.0 * own + 2.0 * (beside + above) - two_beside - two_above) / 8.0;
        if ((y & 1) == 0) camera.z = other;
        else camera.x = other;
    } else {
        float in_row = (5.0 * own + 4.0 * beside - two_beside - corners + 0.5 * two_above) / 8.0;
        float in_column = (5.0 * own + 4.0 * above - two_above - corners + 0.5 * two_beside) / 8.0;
        camera.x = (y & 1) == 0 ? in_row : in_column;
        camera.z = (y & 1) == 0 ? in_column : in_row;
    }
    for (int k = 0; k < 3; ++k) {
        vec3 row = vec3(matrix_at(3 * k), matrix_at(3 * k + 1), matrix_at(3 * k + 2));
        float linear = dot(row, camera);
        linear = clamp(linear, 0.0, 1.0);
        picture[3 * (y * COLUMNS + x) + k] =
            linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1.0 / 2.4) - 0.055;
    }
}
)";

HandProgram plain_demosaic() {
    HandProgram out;
    out.kernels = {{"demosaic",
                    kPlainDemosaic,
                    {64, 4, 1},
                    {kDemosaicColumns / 64, kDemosaicRows / 4, 1},
                    {{"raw", As::Floats, 0},
                     {"gains", As::Floats, 1},
                     {"matrix", As::Floats, 2},
                     {"picture", As::Floats, 3, true}},
                    {{"ROWS", kDemosaicRows}, {"COLUMNS", kDemosaicColumns}}}};
    return out;
}

// An invocation goes down ROWS_EACH rows of four columns, two rows at a time, and keeps six rows of
// eight sites. The curve above its straight part is a polynomial of the fourth root, to 1e-6.
constexpr const char* kBestDemosaic = R"(
vec3 gain, row_0, row_1, row_2;
int left;
vec4 balanced(vec4 raw, float even, float odd) {
    vec4 share = clamp((raw - 512.0) * (1.0 / (4095.0 - 512.0)), 0.0, 1.0);
    return share * vec4(even, odd, even, odd);
}
void load(int y, float even, float odd, out float row[8]) {
    y = abs(y);
    y = min(y, 2 * (ROWS - 1) - y);
    int at = y * (COLUMNS / 4) + left;
    vec4 a = raw_at(max(at - 1, 0)), b = raw_at(at), c = raw_at(at + 1);
    a.zw = left == 0 ? b.zy : a.zw;
    c.xy = left == COLUMNS / 4 - 1 ? b.zy : c.xy;
    a = balanced(a, even, odd), b = balanced(b, even, odd), c = balanced(c, even, odd);
    row[0] = a.z, row[1] = a.w, row[2] = b.x, row[3] = b.y;
    row[4] = b.z, row[5] = b.w, row[6] = c.x, row[7] = c.y;
}
float curve(float x) {
    x = clamp(x, 0.0, 1.0);
    float s = sqrt(sqrt(x)), p = 0.0648733212;
    p = p * s - 0.306036986, p = p * s + 0.638769462, p = p * s - 0.838965334;
    p = p * s + 1.36022559, p = p * s + 0.140776781, p = p * s - 0.0596417498;
    return x <= 0.0031308 ? 12.92 * x : p;
}
void emit(int y, bool red_row, float r0[8], float r1[8], float r2[8], float r3[8], float r4[8]) {
    float result[12];
    [[unroll]] for (int k = 0; k < 4; ++k) {
        int c = k + 2;
        float own = r2[c], beside = r2[c - 1] + r2[c + 1], above = r1[c] + r3[c];
        float two_beside = r2[c - 2] + r2[c + 2], two_above = r0[c] + r4[c];
        float corners = r1[c - 1] + r1[c + 1] + r3[c - 1] + r3[c + 1];
        vec3 camera;
        if ((k & 1) == (red_row ? 0 : 1)) {
            float two = two_beside + two_above;
            float other = 0.75 * own + 0.25 * corners - 0.1875 * two;
            float green = 0.5 * own + 0.25 * (beside + above) - 0.125 * two;
            camera = red_row ? vec3(own, green, other) : vec3(other, green, own);
        } else {
            float same = 0.625 * own - 0.125 * corners;
            float in_row = same + 0.5 * beside - 0.125 * two_beside + 0.0625 * two_above;
            float in_column = same + 0.5 * above - 0.125 * two_above + 0.0625 * two_beside;
            camera = red_row ? vec3(in_row, own, in_column) : vec3(in_column, own, in_row);
        }
        result[3 * k] = curve(dot(row_0, camera));
        result[3 * k + 1] = curve(dot(row_1, camera));
        result[3 * k + 2] = curve(dot(row_2, camera));
    }
    int to = 3 * (y * (COLUMNS / 4) + left);
    picture[to] = vec4(result[0], result[1], result[2], result[3]);
    picture[to + 1] = vec4(result[4], result[5], result[6], result[7]);
    picture[to + 2] = vec4(result[8], result[9], result[10], result[11]);
}
void main() {
    left = int(gl_GlobalInvocationID.x);
    gain = vec3(gains_at(0), gains_at(1), gains_at(2));
    row_0 = vec3(matrix_at(0), matrix_at(1), matrix_at(2));
    row_1 = vec3(matrix_at(3), matrix_at(4), matrix_at(5));
    row_2 = vec3(matrix_at(6), matrix_at(7), matrix_at(8));
    int begin = int(gl_WorkGroupID.y) * ROWS_EACH;
    float r0[8], r1[8], r2[8], r3[8], r4[8], r5[8];
    load(begin - 2, gain.x, gain.y, r0);
    load(begin - 1, gain.y, gain.z, r1);
    load(begin, gain.x, gain.y, r2);
    load(begin + 1, gain.y, gain.z, r3);
    for (int y = begin; y < begin + ROWS_EACH; y += 2) {
        load(y + 2, gain.x, gain.y, r4);
        emit(y, true, r0, r1, r2, r3, r4);
        load(y + 3, gain.y, gain.z, r5);
        emit(y + 1, false, r1, r2, r3, r4, r5);
        r0 = r2, r1 = r3, r2 = r4, r3 = r5;
    }
}
)";

HandProgram best_demosaic() {
    constexpr int kEach = 64;
    HandProgram out;
    out.kernels = {
        {"demosaic",
         kBestDemosaic,
         {32, 1, 1},
         {kDemosaicColumns / 4 / 32, kDemosaicRows / kEach, 1},
         {{"raw", As::Texels4, 0},
          {"gains", As::Texels, 1},
          {"matrix", As::Texels, 2},
          {"picture", As::Vec4s, 3, true}},
         {{"ROWS", kDemosaicRows}, {"COLUMNS", kDemosaicColumns}, {"ROWS_EACH", kEach}}}};
    return out;
}

/// Hills in three colours, seen through a mosaic by a sensor of 12 bits with noise.
Plane demosaic_raw() {
    const std::array planes{hills(kDemosaicRows, kDemosaicColumns, 11),
                            hills(kDemosaicRows, kDemosaicColumns, 8),
                            hills(kDemosaicRows, kDemosaicColumns, 17)};
    const std::vector<float> noise = numbers(kDemosaicPixels, -40, 40);
    Plane out(kDemosaicRows, kDemosaicColumns);
    for (int i = 0; i < out.h; ++i)
        for (int j = 0; j < out.w; ++j) {
            const float light = planes[size_t((i & 1) + (j & 1))](i, j);
            const float level = 2000 + 1900 * light + noise[out.place(i, j)];
            out(i, j) = std::clamp(std::floor(level), 0.0f, kDemosaicWhite);
        }
    return out;
}

Contest demosaic_contest(Tensor (*program)(Tensor, Tensor, Tensor, Tensor, Tensor)) {
    auto f = compile(program, {f32("h", "w"), f32(), f32(), f32(3), f32(3, 3)});
    const Plane raw = demosaic_raw();
    const std::vector<float> gains(kDemosaicGains.begin(), kDemosaicGains.end());
    const std::vector<float> matrix(kDemosaicMatrix.begin(), kDemosaicMatrix.end());
    // The fewest operations known. Per site 4 to become light with its gain; for the two missing
    // colours 8 sums of neighbours, of which half serve the next row or column too, and 10 to weigh
    // them; 15 for the matrix; for each of three results 2 bounds, two roots, 12 of a polynomial, 3
    // for the straight part.
    return {.least = {4.0 * kDemosaicPixels, 12.0 * kDemosaicPixels, 90.0 * kDemosaicPixels},
            .arguments = {raw.values, gains, matrix},
            .results = {3 * kDemosaicPixels},
            .firn =
                [f, mosaic = tensor(raw.values, {raw.h, raw.w}), g = tensor(gains),
                 m = tensor(matrix, {3, 3})] {
                    return std::vector<Tensor>{f(mosaic, kDemosaicBlack, kDemosaicWhite, g, m)};
                },
            .best = best_demosaic(),
            .plain = plain_demosaic(),
            .expected = [=] { return std::vector<std::vector<float>>{host_demosaic(raw)}; }};
}

constexpr const char* kDemosaicFar =
    "three numbers per pixel are stored side by side, and each asks for two roots";

}  // namespace

void add_demosaic(std::vector<Case>& cases) {
    cases.push_back(
        {"demosaic", [] { return demosaic_contest(demosaic); }, Section::Holdout, kDemosaicFar});
    cases.push_back({"demosaic_kernel", [] { return demosaic_contest(demosaic_kernel); },
                     Section::Holdout, kDemosaicFar});
}

}  // namespace firn::bench
